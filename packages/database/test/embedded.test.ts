import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../testing/src/run/eventually.ts';
import { type EmbeddedPostgres, type EmbeddedPostgresOptions, startEmbeddedPostgres } from '../src/embedded.ts';
import * as onDatabase from './on-database.ts';

const startServer = fileURLToPath(new URL('./fixtures/start-server.mjs', import.meta.url));
const password = 'fixture';

/** A folder that PostgreSQL can enter. It runs as another user if root runs the tests. */
function aFolder(prefix: string): string {
  const folder = fs.mkdtempSync(prefix);
  fs.chmodSync(folder, 0o755);
  return folder;
}

const parent = aFolder(path.join(os.tmpdir(), 'embedded-'));
/**
 * The data folder that all tests of a durable server use sequentially, because creating one is
 * slow.
 */
const dataDir = path.join(parent, 'shared');
const newDataDir = () => path.join(aFolder(path.join(parent, 'own-')), 'data');

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});
afterAll(() => fs.rmSync(parent, { recursive: true }));

/** The lines that servers of this file wrote. */
const written: string[] = [];
const log = (line: string) => written.push(line);

/** Starts a server that is stopped after the test. */
async function start(options: EmbeddedPostgresOptions = {}): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ log, ...options });
  cleanups.push(() => server.stop());
  return server;
}

/** The rows of a statement. @throws an error with the lines of the servers if the connection is refused */
const rowsOf = (connectionString: string, sql: string): Promise<unknown[]> =>
  onDatabase.rowsOf(connectionString, sql).catch((cause: Error) => {
    if (!cause.message.includes('ECONNREFUSED')) throw cause;
    throw new Error([cause.message, ...written.slice(-40)].join('\n'), { cause });
  });

/**
 * Starts a server in another process, which then exits or is killed.
 * @returns the port of the server
 */
function startElsewhere(end: 'exited' | 'killed'): number {
  const { stdout } = spawnSync(process.execPath, [startServer, dataDir, end], { encoding: 'utf8' });
  return Number(stdout);
}

const serverPid = () => Number(fs.readFileSync(path.join(dataDir, 'postmaster.pid'), 'utf8').split('\n')[0]);

test('a temporary server has the locale C and UTF-8, and leaves no files when it is stopped', async () => {
  const server = await start();
  const rows = await rowsOf(
    server.url('postgres'),
    `select datcollate, pg_encoding_to_char(encoding) as encoding from pg_database where datname = current_database()`,
  );
  expect(rows).toEqual([{ datcollate: 'C', encoding: 'UTF8' }]);
  await server.stop();
  expect(fs.existsSync(path.dirname(server.dataDir))).toBe(false);
});

test('a temporary server starts with the data of a snapshot, and does not change it', async () => {
  const snapshot = path.join(aFolder(path.join(parent, 'snapshot-')), 'data');
  const original = await start();
  await rowsOf(original.url('postgres'), 'create table kept as select 1 as value');
  await original.stopWithSnapshot(snapshot);
  for (let round = 0; round < 2; round += 1) {
    const copy = await start({ snapshot });
    expect(await rowsOf(copy.url('postgres'), 'update kept set value = value + 1 returning value')).toEqual([
      { value: 2 },
    ]);
    await copy.stop();
  }
  expect(fs.existsSync(path.dirname(original.dataDir))).toBe(false);
});

describe('a durable server', () => {
  let server: EmbeddedPostgres;
  beforeAll(async () => {
    server = await startEmbeddedPostgres({ dataDir, password });
  });
  afterAll(() => server.stop());

  test('requires the password', async () => {
    const open = server.url('postgres').replace(`:${password}@`, '@');
    await expect(rowsOf(open, 'select 1')).rejects.toThrow('password');
  });

  test('creates databases to which other roles cannot connect', async () => {
    const hub = await server.ensureDatabase({ name: 'hub', role: 'hub', password: 'a' });
    const fleet = await server.ensureDatabase({ name: 'fleet', role: 'fleet', password: 'b' });
    expect(await rowsOf(hub, 'select current_user::text as who')).toEqual([{ who: 'hub' }]);
    await expect(rowsOf(fleet.replace(/fleet$/, 'hub'), 'select 1')).rejects.toThrow('permission denied');
  });

  test('keeps an existing database, and changes the password of its role', async () => {
    const first = await server.ensureDatabase({ name: 'kept', role: 'kept', password: 'a' });
    await rowsOf(first, 'create table kept (id int)');
    const second = await server.ensureDatabase({ name: 'kept', role: 'kept', password: 'b' });
    expect(await rowsOf(second, 'select id from kept')).toEqual([]);
    await expect(rowsOf(first, 'select id from kept')).rejects.toThrow('password');
  });

  test('keeps running if a second start fails, which reports the process that started it', async () => {
    await expect(startEmbeddedPostgres({ dataDir, password })).rejects.toThrow(`started by process ${process.pid}`);
    expect(await rowsOf(server.url('postgres'), 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('keeps its data across restarts', async () => {
    await rowsOf(server.url('postgres'), 'create table restarted (id int)');
    await server.stop();
    server = await startEmbeddedPostgres({ dataDir, password });
    expect(await rowsOf(server.url('postgres'), 'select id from restarted')).toEqual([]);
  });

  test('rejects a password other than that of its first start', async () => {
    await server.stop();
    await expect(startEmbeddedPostgres({ dataDir, password: 'other' })).rejects.toThrow(
      `PostgreSQL in ${fs.realpathSync(dataDir)} rejects this password`,
    );
  });
});

describe('starting a server', () => {
  test('fails without a password for a durable server', async () => {
    await expect(startEmbeddedPostgres({ dataDir: newDataDir() })).rejects.toThrow('requires a password');
  });

  test('fails for a port in use, and leaves no files', async () => {
    const other = net.createServer().listen(0, '127.0.0.1');
    cleanups.push(() => other.close());
    await once(other, 'listening');
    const address = other.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const { TMPDIR } = process.env;
    const temporary = aFolder(path.join(parent, 'temporary-'));
    process.env.TMPDIR = temporary;
    cleanups.push(() => {
      if (TMPDIR === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = TMPDIR;
    });
    await expect(startEmbeddedPostgres({ port })).rejects.toThrow(
      `Port ${port} of 127.0.0.1 is in use by another program`,
    );
    expect(fs.readdirSync(temporary)).toEqual([]);
  });

  test('fails for a data folder that is not writable', async () => {
    const file = newDataDir();
    fs.writeFileSync(file, '');
    await expect(startEmbeddedPostgres({ dataDir: path.join(file, 'data'), password })).rejects.toThrow(
      'is not writable',
    );
  });

  test('succeeds after a killed initialization', async () => {
    const own = newDataDir();
    const ended = spawnSync(process.execPath, ['--version']).pid;
    const leftover = `${own}.new-${ended}-abc`;
    fs.mkdirSync(path.join(leftover, 'data'), { recursive: true });
    fs.writeFileSync(path.join(leftover, 'data', 'PG_VERSION'), '18\n');
    await start({ dataDir: own, password });
    expect(fs.readdirSync(path.dirname(own))).toEqual(['data']);
  });

  test('fails for a folder with other files, which it keeps', async () => {
    const own = newDataDir();
    fs.mkdirSync(own);
    fs.writeFileSync(path.join(own, 'thesis.txt'), 'years of work');
    await expect(startEmbeddedPostgres({ dataDir: own, password })).rejects.toThrow(
      'contains files that are not data of PostgreSQL',
    );
    expect(fs.readdirSync(own)).toEqual(['thesis.txt']);
  });
});

describe('a server left running', () => {
  test('ends when the process that started it exits', async () => {
    startElsewhere('exited');
    await eventually('the server has ended', () => !fs.existsSync(path.join(dataDir, 'postmaster.pid')));
    await start({ dataDir, password });
  });

  test('by a killed process is replaced by the next start with its data and port', async () => {
    const port = startElsewhere('killed');
    const orphan = serverPid();
    await rowsOf(`postgresql://postgres:${password}@127.0.0.1:${port}/postgres`, 'create table orphaned (id int)');
    const server = await start({ dataDir, password, port });
    expect(serverPid()).not.toBe(orphan);
    expect(await rowsOf(server.url('postgres'), 'select id from orphaned')).toEqual([]);
  });

  const hour = 3600;
  test.each([
    { what: 'with other arguments', hasArguments: false, startedSecondsAgo: 0 },
    { what: 'with another start time', hasArguments: true, startedSecondsAgo: hour },
  ])('is not confused with another process $what', async ({ hasArguments, startedSecondsAgo }) => {
    const real = fs.realpathSync(dataDir);
    const args = hasArguments ? ['/postgres', '-D', real, '-c', 'svc.owner_pid=1'] : [];
    const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', '--', ...args], { stdio: 'ignore' });
    cleanups.push(() => other.kill());
    await once(other, 'spawn');
    const startedAt = Math.floor(Date.now() / 1000) - startedSecondsAgo;
    fs.writeFileSync(path.join(dataDir, 'postmaster.pid'), `${other.pid}\n${real}\n${startedAt}\n`);
    // Whether PostgreSQL starts depends on the owner of the process.
    await start({ dataDir, password }).catch((error: unknown) => expect(String(error)).toContain('postmaster.pid'));
    expect(other).toMatchObject({ exitCode: null, signalCode: null });
    fs.rmSync(path.join(dataDir, 'postmaster.pid'), { force: true });
  });
});

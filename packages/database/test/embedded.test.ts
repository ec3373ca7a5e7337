import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type EmbeddedPostgres, type EmbeddedPostgresOptions, startEmbeddedPostgres } from '../src/embedded.ts';
import { rowsOf } from './on-database.ts';

const startServer = fileURLToPath(new URL('./fixtures/start-server.mjs', import.meta.url));
const password = 'fixture';

/** A folder that PostgreSQL can enter, which is another user when root runs the tests. */
function aFolder(prefix: string): string {
  const folder = fs.mkdtempSync(prefix);
  fs.chmodSync(folder, 0o755);
  return folder;
}

const parent = aFolder(path.join(os.tmpdir(), 'embedded-'));
/** The data folder of the tests of a durable server, which use it in turn: to make one is expensive. */
const dataDir = path.join(parent, 'shared');
const newDataDir = () => path.join(aFolder(path.join(parent, 'own-')), 'data');

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});
afterAll(() => fs.rmSync(parent, { recursive: true }));

/** Starts a server, which is stopped after the test. */
async function start(options: EmbeddedPostgresOptions = {}): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres(options);
  cleanups.push(() => server.stop());
  return server;
}

/** Starts a server in another process, which ends at once: exited or killed. Answers with the server's port. */
function startElsewhere(end: 'exited' | 'killed'): number {
  const { stdout } = spawnSync(process.execPath, [startServer, dataDir, end], { encoding: 'utf8' });
  return Number(stdout);
}

const serverPid = () => Number(fs.readFileSync(path.join(dataDir, 'postmaster.pid'), 'utf8').split('\n')[0]);

test('a throw-away server answers, has the locale C and UTF-8, and leaves nothing when it is stopped', async () => {
  const server = await start();
  const rows = await rowsOf(
    server.url('postgres'),
    `select datcollate, pg_encoding_to_char(encoding) as encoding from pg_database where datname = current_database()`,
  );
  expect(rows).toEqual([{ datcollate: 'C', encoding: 'UTF8' }]);
  await server.stop();
  expect(fs.existsSync(path.dirname(server.dataDir))).toBe(false);
});

describe('a durable server', () => {
  let server: EmbeddedPostgres;
  beforeAll(async () => {
    server = await startEmbeddedPostgres({ dataDir, password });
  });
  afterAll(() => server.stop());

  test('admits nobody without the password', async () => {
    const open = server.url('postgres').replace(`:${password}@`, '@');
    await expect(rowsOf(open, 'select 1')).rejects.toThrow('password');
  });

  test('gives a role a database that other roles cannot enter', async () => {
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

  test('is not disturbed by a second start, which names the process that started it', async () => {
    await expect(startEmbeddedPostgres({ dataDir, password })).rejects.toThrow(`started by process ${process.pid}`);
    expect(await rowsOf(server.url('postgres'), 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('keeps its data over a restart', async () => {
    await rowsOf(server.url('postgres'), 'create table restarted (id int)');
    await server.stop();
    server = await startEmbeddedPostgres({ dataDir, password });
    expect(await rowsOf(server.url('postgres'), 'select id from restarted')).toEqual([]);
  });

  test('refuses a password other than that of its first start', async () => {
    await server.stop();
    await expect(startEmbeddedPostgres({ dataDir, password: 'other' })).rejects.toThrow(
      `The PostgreSQL in ${fs.realpathSync(dataDir)} refuses this password`,
    );
  });
});

describe('a start', () => {
  test('is refused without a password for a durable server', async () => {
    await expect(startEmbeddedPostgres({ dataDir: newDataDir() })).rejects.toThrow('needs a password');
  });

  test('names a port in use, and leaves nothing behind', async () => {
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

  test('names a data folder that cannot be written', async () => {
    const file = newDataDir();
    fs.writeFileSync(file, '');
    await expect(startEmbeddedPostgres({ dataDir: path.join(file, 'data'), password })).rejects.toThrow(
      "can't be written",
    );
  });

  test('succeeds after an initialisation that was killed', async () => {
    const own = newDataDir();
    const ended = spawnSync(process.execPath, ['--version']).pid;
    const leftover = `${own}.new-${ended}-abc`;
    fs.mkdirSync(path.join(leftover, 'data'), { recursive: true });
    fs.writeFileSync(path.join(leftover, 'data', 'PG_VERSION'), '18\n');
    await start({ dataDir: own, password });
    expect(fs.readdirSync(path.dirname(own))).toEqual(['data']);
  });

  test('keeps a folder that holds something else', async () => {
    const own = newDataDir();
    fs.mkdirSync(own);
    fs.writeFileSync(path.join(own, 'thesis.txt'), 'years of work');
    await expect(startEmbeddedPostgres({ dataDir: own, password })).rejects.toThrow(
      "something else than PostgreSQL's data",
    );
    expect(fs.readdirSync(own)).toEqual(['thesis.txt']);
  });
});

describe('a server left running', () => {
  test('ends when the process that started it exits', async () => {
    startElsewhere('exited');
    while (fs.existsSync(path.join(dataDir, 'postmaster.pid'))) await sleep(20);
    await start({ dataDir, password });
  });

  test('by a killed process is stopped, and its data and port are taken over', async () => {
    const port = startElsewhere('killed');
    const orphan = serverPid();
    await rowsOf(`postgresql://postgres:${password}@127.0.0.1:${port}/postgres`, 'create table orphaned (id int)');
    const server = await start({ dataDir, password, port });
    expect(serverPid()).not.toBe(orphan);
    expect(await rowsOf(server.url('postgres'), 'select id from orphaned')).toEqual([]);
  });

  const hour = 3600;
  test.each([
    { what: 'with other arguments', imitates: false, startedSecondsAgo: 0 },
    { what: 'with another start time', imitates: true, startedSecondsAgo: hour },
  ])('is not confused with a foreign process $what', async ({ imitates, startedSecondsAgo }) => {
    const real = fs.realpathSync(dataDir);
    const args = imitates ? ['/postgres', '-D', real, '-c', 'svc.owner_pid=1'] : [];
    const foreign = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', '--', ...args], { stdio: 'ignore' });
    cleanups.push(() => foreign.kill());
    await once(foreign, 'spawn');
    const startedAt = Math.floor(Date.now() / 1000) - startedSecondsAgo;
    fs.writeFileSync(path.join(dataDir, 'postmaster.pid'), `${foreign.pid}\n${real}\n${startedAt}\n`);
    // PostgreSQL itself starts or refuses, by whose process it is.
    await start({ dataDir, password }).catch((error: unknown) => expect(String(error)).toContain('postmaster.pid'));
    expect([foreign.exitCode, foreign.signalCode]).toEqual([null, null]);
    fs.rmSync(path.join(dataDir, 'postmaster.pid'), { force: true });
  });
});

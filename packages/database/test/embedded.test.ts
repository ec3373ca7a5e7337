import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from '@jest/globals';
import { type EmbeddedPostgres, type EmbeddedPostgresOptions, startEmbeddedPostgres } from '../src/embedded.ts';
import { rowsOf } from './on-database.ts';

const startServer = fileURLToPath(new URL('./fixtures/start-server.mjs', import.meta.url));
const password = 'fixture';
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});

async function start(options: EmbeddedPostgresOptions = {}): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres(options);
  cleanups.push(() => server.stop());
  return server;
}

/** A path for a data folder, in a folder that is removed after the test. */
function newDataDir(): string {
  const parent = fs.mkdtempSync(path.join(os.tmpdir(), 'embedded-'));
  fs.chmodSync(parent, 0o755); // PostgreSQL runs as another user when root runs the tests
  cleanups.push(() => fs.rmSync(parent, { recursive: true, force: true }));
  return path.join(parent, 'data');
}

/** Starts a server in another process, which ends at once: exited or killed. Answers with the server's port. */
function startElsewhere(dataDir: string, end: 'exited' | 'killed'): number {
  const { stdout } = spawnSync(process.execPath, [startServer, dataDir, end], { encoding: 'utf8' });
  return Number(stdout);
}

const serverPid = (dataDir: string) =>
  Number(fs.readFileSync(path.join(dataDir, 'postmaster.pid'), 'utf8').split('\n')[0]);

describe('a throw-away server', () => {
  test('answers, and leaves nothing when it is stopped', async () => {
    const server = await start();
    expect(await rowsOf(server.url('postgres'), 'select 1 as one')).toEqual([{ one: 1 }]);
    await server.stop();
    expect(fs.existsSync(path.dirname(server.dataDir))).toBe(false);
  });

  test('sorts and stores text the same way everywhere', async () => {
    const server = await start();
    const [row] = await rowsOf(
      server.url('postgres'),
      `select datcollate, pg_encoding_to_char(encoding) as encoding from pg_database where datname = current_database()`,
    );
    expect(row).toEqual({ datcollate: 'C', encoding: 'UTF8' });
  });
});

describe('a durable server', () => {
  test('keeps its data over a restart', async () => {
    const dataDir = newDataDir();
    const first = await start({ dataDir, password });
    await rowsOf(first.url('postgres'), 'create table kept (id int)');
    await first.stop();
    const second = await start({ dataDir, password });
    expect(await rowsOf(second.url('postgres'), 'select id from kept')).toEqual([]);
  });

  test('lets nobody in without the password', async () => {
    const server = await start({ dataDir: newDataDir(), password });
    const open = server.url('postgres').replace(`:${password}@`, '@');
    await expect(rowsOf(open, 'select 1')).rejects.toThrow('password');
  });

  test('refuses to start without a password', async () => {
    await expect(startEmbeddedPostgres({ dataDir: newDataDir() })).rejects.toThrow('needs a password');
  });

  test('says that the data was made with another password', async () => {
    const dataDir = newDataDir();
    await (await start({ dataDir, password })).stop();
    await expect(startEmbeddedPostgres({ dataDir, password: 'other' })).rejects.toThrow(
      `The PostgreSQL in ${fs.realpathSync(dataDir)} refuses this password`,
    );
  });

  test('gives a role a database that other roles cannot enter', async () => {
    const server = await start({ dataDir: newDataDir(), password });
    const hub = await server.ensureDatabase({ name: 'hub', role: 'hub', password: 'a' });
    const fleet = await server.ensureDatabase({ name: 'fleet', role: 'fleet', password: 'b' });
    expect(await rowsOf(hub, 'select current_user::text as who')).toEqual([{ who: 'hub' }]);
    await expect(rowsOf(fleet.replace(/fleet$/, 'hub'), 'select 1')).rejects.toThrow('permission denied');
  });

  test('keeps a database that is there, with the password given last', async () => {
    const server = await start({ dataDir: newDataDir(), password });
    const first = await server.ensureDatabase({ name: 'hub', role: 'hub', password: 'a' });
    await rowsOf(first, 'create table kept (id int)');
    const second = await server.ensureDatabase({ name: 'hub', role: 'hub', password: 'b' });
    expect(await rowsOf(second, 'select id from kept')).toEqual([]);
  });
});

describe('a start', () => {
  test('says which port is in use', async () => {
    const other = net.createServer().listen(0, '127.0.0.1');
    cleanups.push(() => other.close());
    await once(other, 'listening');
    const address = other.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    await expect(startEmbeddedPostgres({ port })).rejects.toThrow(
      `Port ${port} of 127.0.0.1 is in use by another program`,
    );
  });

  test('leaves nothing behind when it fails', async () => {
    const temporary = fs.mkdtempSync(path.join(os.tmpdir(), 'embedded-'));
    fs.chmodSync(temporary, 0o755);
    const { TMPDIR } = process.env;
    process.env.TMPDIR = temporary;
    cleanups.push(() => {
      process.env.TMPDIR = TMPDIR ?? '';
      fs.rmSync(temporary, { recursive: true });
    });
    const server = await start();
    await expect(startEmbeddedPostgres({ port: server.port })).rejects.toThrow('is in use');
    await server.stop();
    expect(fs.readdirSync(temporary)).toEqual([]);
  });

  test('says that the data folder cannot be written', async () => {
    const file = newDataDir();
    fs.writeFileSync(file, '');
    await expect(startEmbeddedPostgres({ dataDir: path.join(file, 'data'), password })).rejects.toThrow(
      "can't be written",
    );
  });

  test('is not held up by an initialisation that was killed', async () => {
    const dataDir = newDataDir();
    const ended = spawnSync(process.execPath, ['--version']).pid;
    const leftover = `${dataDir}.new-${ended}-abc`;
    fs.mkdirSync(path.join(leftover, 'data'), { recursive: true });
    fs.writeFileSync(path.join(leftover, 'data', 'PG_VERSION'), '18\n');
    await start({ dataDir, password });
    expect(fs.readdirSync(path.dirname(dataDir))).toEqual(['data']);
  });

  test('keeps a folder that holds something else', async () => {
    const dataDir = newDataDir();
    fs.mkdirSync(dataDir);
    fs.writeFileSync(path.join(dataDir, 'thesis.txt'), 'years of work');
    await expect(startEmbeddedPostgres({ dataDir, password })).rejects.toThrow("something else than PostgreSQL's data");
    expect(fs.readdirSync(dataDir)).toEqual(['thesis.txt']);
  });
});

describe('a server left running', () => {
  test('ends when the process that started it exits', async () => {
    const dataDir = newDataDir();
    startElsewhere(dataDir, 'exited');
    while (fs.existsSync(path.join(dataDir, 'postmaster.pid'))) await sleep(20);
    await start({ dataDir, password });
  });

  test('by a killed process is stopped, and its data and port are taken over', async () => {
    const dataDir = newDataDir();
    const port = startElsewhere(dataDir, 'killed');
    const orphan = serverPid(dataDir);
    await rowsOf(`postgresql://postgres:${password}@127.0.0.1:${port}/postgres`, 'create table kept (id int)');
    const server = await start({ dataDir, password, port });
    expect(serverPid(dataDir)).not.toBe(orphan);
    expect(await rowsOf(server.url('postgres'), 'select id from kept')).toEqual([]);
  });

  test('by a process that lives is left alone', async () => {
    const dataDir = newDataDir();
    const server = await start({ dataDir, password });
    await expect(startEmbeddedPostgres({ dataDir, password })).rejects.toThrow(`started by process ${process.pid}`);
    expect(await rowsOf(server.url('postgres'), 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  const hour = 3600;
  test.each([
    { what: 'with other arguments', imitates: false, startedSecondsAgo: 0 },
    { what: 'with another start time', imitates: true, startedSecondsAgo: hour },
  ])('is not confused with a foreign process $what', async ({ imitates, startedSecondsAgo }) => {
    const dataDir = newDataDir();
    await (await start({ dataDir, password })).stop();
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
  });
});

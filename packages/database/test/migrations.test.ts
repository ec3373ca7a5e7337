import { fork } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { migrate, migrationDrift, migrationState, newMigration } from '../src/index.ts';
import { aDatabase, rowsOf, serverUrl } from './on-database.ts';

const fixture = fileURLToPath(new URL('./fixtures/garage', import.meta.url));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'migrations-'));
const init = '20260101000000_init';
const wheels = '20260102000000_wheels';
/** Not a superuser, like the role of a service. */
const OWNER = 'garage';
let migratedDatabase: string;
let options: { prismaDir: string; databaseUrl: string };
let count = 0;

const fileOf = (name: string) => path.join(options.prismaDir, 'migrations', name, 'migration.sql');
const stateOf = () =>
  migrationState({ prismaDir: options.prismaDir, query: (sql) => rowsOf(options.databaseUrl, sql) });

function addMigration(name: string, sql: string): void {
  fs.mkdirSync(path.dirname(fileOf(name)));
  fs.writeFileSync(fileOf(name), sql);
}

beforeAll(async () => {
  await rowsOf(serverUrl, `create role ${OWNER} login`);
  const databaseUrl = ownerUrl(await aDatabase({ owner: OWNER }));
  await migrate({ prismaDir: fixture, databaseUrl });
  migratedDatabase = new URL(databaseUrl).pathname.slice(1);
  // A database with connections cannot be copied.
  await rowsOf(
    serverUrl,
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${migratedDatabase}'`,
  );
});
afterAll(() => fs.rmSync(folder, { recursive: true }));

beforeEach(async () => {
  count += 1;
  const prismaDir = path.join(folder, `garage${count}`);
  fs.cpSync(fixture, prismaDir, { recursive: true });
  options = { prismaDir, databaseUrl: ownerUrl(await aDatabase({ owner: OWNER })) };
});

function ownerUrl(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.username = OWNER;
  return url.href;
}

/** Lets the test use a database with all migrations. */
async function useMigrated(): Promise<void> {
  options = { ...options, databaseUrl: ownerUrl(await aDatabase({ owner: OWNER, template: migratedDatabase })) };
}

describe('migrate', () => {
  test('applies all migrations to an empty database in order', async () => {
    expect(await migrate(options)).toEqual([init, wheels]);
    expect(await rowsOf(options.databaseUrl, 'select honk()')).toEqual([{ honk: 'honk; honk' }]);
  });

  test('applies each migration once if two processes migrate at the same time', async () => {
    const applied = await Promise.all([migrate(options), migrate(options)]);
    expect(applied.flat()).toEqual([init, wheels]);
  });

  test('applies only new migrations', async () => {
    await useMigrated();
    addMigration('20260103000000_vans', 'CREATE TABLE "vans" ("id" INTEGER PRIMARY KEY);');
    expect(await migrate(options)).toEqual(['20260103000000_vans']);
  });

  test('fails if the file of an applied migration was edited', async () => {
    await useMigrated();
    fs.appendFileSync(fileOf(init), '-- one more thing');
    await expect(migrate(options)).rejects.toThrow(
      `The files of applied migrations were changed: ${init}. Restore them`,
    );
  });

  test('accepts files with other line endings', async () => {
    await useMigrated();
    fs.writeFileSync(fileOf(init), fs.readFileSync(fileOf(init), 'utf8').replaceAll('\n', '\r\n'));
    expect(await migrate(options)).toEqual([]);
  });

  test('reports why a migration could not be applied', async () => {
    addMigration('20260103000000_broken', 'ALTER TABLE "boats" ADD COLUMN "sails" INTEGER;');
    await expect(migrate(options)).rejects.toThrow(
      /^Migration 20260103000000_broken could not be applied: .*relation "boats" does not exist \(42P01\)$/,
    );
  });

  test('fails after a failed migration, until it is marked as rolled back', async () => {
    addMigration('20260103000000_broken', 'ALTER TABLE "boats" ADD COLUMN "sails" INTEGER;');
    await migrate(options).catch(() => {});
    const error: unknown = await migrate(options).catch((error: unknown) => error);
    expect(String(error)).toContain('Migration 20260103000000_broken has failed');
    const advice = /UPDATE .*?;/.exec(String(error))?.[0] ?? '';
    await rowsOf(options.databaseUrl, advice);
    fs.writeFileSync(fileOf('20260103000000_broken'), 'CREATE TABLE "boats" ("id" INTEGER PRIMARY KEY);');
    expect(await migrate(options)).toEqual(['20260103000000_broken']);
  });

  test('reports an unreachable database without its password', async () => {
    const databaseUrl = options.databaseUrl.replace(`${OWNER}@`, `${OWNER}:hush@`).replace(/:\d+\//, ':1/');
    const error: unknown = await migrate({ ...options, databaseUrl }).catch((error: unknown) => error);
    expect(String(error)).toMatch(/^Error: The database test_\w+ at 127\.0\.0\.1:1 is not reachable: .*ECONNREFUSED/);
    expect(String(error)).not.toContain('hush');
  });

  test('applies a migration again whose process was killed', async () => {
    await useMigrated();
    const slow = '20260103000000_slow';
    addMigration(slow, 'CREATE TABLE "vans" ("id" INTEGER PRIMARY KEY); SELECT pg_sleep(60); -- no end of line');
    const child = fork(fileURLToPath(new URL('../dist/migrations/child.js', import.meta.url)), { execArgv: [] });
    child.send({ kind: 'apply', ...options });
    const sleeping = "select pid from pg_stat_activity where query like '%pg_sleep(60)%' and pid <> pg_backend_pid()";
    while ((await rowsOf(options.databaseUrl, sleeping)).length === 0) await sleep(20);
    child.kill('SIGKILL');
    await once(child, 'exit');
    // The server would detect the closed connection only when it sends data. A restart of either
    // has the same effect.
    await rowsOf(options.databaseUrl, sleeping.replace('select pid', 'select pg_terminate_backend(pid)'));
    expect((await stateOf()).failed).toEqual([{ name: slow, log: '' }]);

    fs.writeFileSync(fileOf(slow), 'CREATE TABLE "vans" ("id" INTEGER PRIMARY KEY); -- no end of line');
    expect(await migrate(options)).toEqual([slow]);
    expect(await stateOf()).toEqual({ pending: [], edited: [], failed: [], newest: slow, later: [] });
  });

  test('ends its child process when the parent process has exited', async () => {
    const child = fork(fileURLToPath(new URL('../dist/migrations/child.js', import.meta.url)), { execArgv: [] });
    child.disconnect();
    expect(await once(child, 'exit')).toEqual([1, null]);
  });
});

describe('migrationState', () => {
  test('lists all migrations as pending for an empty database', async () => {
    expect(await stateOf()).toEqual({ pending: [init, wheels], edited: [], failed: [], newest: wheels, later: [] });
  });

  test('lists nothing for a migrated database', async () => {
    await useMigrated();
    expect(await stateOf()).toEqual({ pending: [], edited: [], failed: [], newest: wheels, later: [] });
  });

  test('lists an edited file', async () => {
    await useMigrated();
    fs.appendFileSync(fileOf(wheels), '-- one more thing');
    expect(await stateOf()).toEqual({ pending: [], edited: [wheels], failed: [], newest: wheels, later: [] });
  });

  test('lists applied migrations of a later version apart', async () => {
    await useMigrated();
    fs.rmSync(path.dirname(fileOf(wheels)), { recursive: true });
    expect(await stateOf()).toEqual({ pending: [], edited: [], failed: [], newest: init, later: [wheels] });
  });
});

describe('migrationDrift', () => {
  test('is empty if the database matches the schema', async () => {
    await useMigrated();
    expect(await migrationDrift(options)).toBe('');
  });

  test('is the SQL that makes the database match the schema', async () => {
    await useMigrated();
    await rowsOf(options.databaseUrl, 'alter table cars drop column plate');
    expect(await migrationDrift(options)).toContain('ALTER TABLE "cars" ADD COLUMN');
  });
});

describe('newMigration', () => {
  const schema = () => path.join(options.prismaDir, 'schema.prisma');

  test('writes the difference between the migrations and the schema', async () => {
    await useMigrated();
    fs.appendFileSync(schema(), '\nmodel Van {\n  id Int @id\n\n  @@map("vans")\n}\n');
    const name = await newMigration({ ...options, name: 'vans' });
    expect(await migrate(options)).toEqual([name]);
    expect(await migrationDrift(options)).toBe('');
  });

  test('writes nothing if there is no difference', async () => {
    await useMigrated();
    expect(await newMigration({ ...options, name: 'nothing' })).toBeUndefined();
  });

  test('fails for a database with pending migrations', async () => {
    await expect(newMigration({ ...options, name: 'early' })).rejects.toThrow(`This database lacks ${init}, ${wheels}`);
  });

  test('fails for an invalid name', async () => {
    await expect(newMigration({ ...options, name: '../x' })).rejects.toThrow('must contain only a-z, 0-9 and _');
  });
});

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
let place: { prismaDir: string; databaseUrl: string };
let count = 0;

const fileOf = (name: string) => path.join(place.prismaDir, 'migrations', name, 'migration.sql');
const stateOf = () => migrationState({ prismaDir: place.prismaDir, query: (sql) => rowsOf(place.databaseUrl, sql) });

function addMigration(name: string, sql: string): void {
  fs.mkdirSync(path.dirname(fileOf(name)));
  fs.writeFileSync(fileOf(name), sql);
}

beforeAll(async () => {
  await rowsOf(serverUrl, `create role ${OWNER} login`);
  const databaseUrl = ownersAddress(await aDatabase({ owner: OWNER }));
  await migrate({ prismaDir: fixture, databaseUrl });
  migratedDatabase = new URL(databaseUrl).pathname.slice(1);
  // A database with connections can't be copied.
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
  place = { prismaDir, databaseUrl: ownersAddress(await aDatabase({ owner: OWNER })) };
});

function ownersAddress(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.username = OWNER;
  return url.href;
}

/** From here on the test uses a database that has all migrations. */
async function useMigrated(): Promise<void> {
  place = { ...place, databaseUrl: ownersAddress(await aDatabase({ owner: OWNER, template: migratedDatabase })) };
}

describe('migrate', () => {
  test('applies every migration to an empty database, in order', async () => {
    expect(await migrate(place)).toEqual([init, wheels]);
    expect(await rowsOf(place.databaseUrl, 'select honk()')).toEqual([{ honk: 'honk; honk' }]);
  });

  test('applies each once when two start at the same time', async () => {
    const applied = await Promise.all([migrate(place), migrate(place)]);
    expect(applied.flat()).toEqual([init, wheels]);
  });

  test('applies only what is new', async () => {
    await useMigrated();
    addMigration('20260103000000_vans', 'CREATE TABLE "vans" ("id" INTEGER PRIMARY KEY);');
    expect(await migrate(place)).toEqual(['20260103000000_vans']);
  });

  test('refuses when an applied file was edited', async () => {
    await useMigrated();
    fs.appendFileSync(fileOf(init), '-- one more thing');
    await expect(migrate(place)).rejects.toThrow(`Applied migrations were edited: ${init}. Restore these files`);
  });

  test('takes a file with other line endings for the same', async () => {
    await useMigrated();
    fs.writeFileSync(fileOf(init), fs.readFileSync(fileOf(init), 'utf8').replaceAll('\n', '\r\n'));
    expect(await migrate(place)).toEqual([]);
  });

  test('says why a migration could not be applied', async () => {
    addMigration('20260103000000_broken', 'ALTER TABLE "boats" ADD COLUMN "sails" INTEGER;');
    await expect(migrate(place)).rejects.toThrow(
      /^Migration 20260103000000_broken could not be applied: .*relation "boats" does not exist \(42P01\)$/,
    );
  });

  test('refuses to go on after one that failed, and goes on once it is marked as rolled back', async () => {
    addMigration('20260103000000_broken', 'ALTER TABLE "boats" ADD COLUMN "sails" INTEGER;');
    await migrate(place).catch(() => {});
    const refusal: unknown = await migrate(place).catch((error: unknown) => error);
    expect(String(refusal)).toContain('Migration 20260103000000_broken was begun and never finished');
    const advice = /UPDATE .*?;/.exec(String(refusal))?.[0] ?? '';
    await rowsOf(place.databaseUrl, advice);
    fs.writeFileSync(fileOf('20260103000000_broken'), 'CREATE TABLE "boats" ("id" INTEGER PRIMARY KEY);');
    expect(await migrate(place)).toEqual(['20260103000000_broken']);
  });

  test('says in one sentence, without the password, that the database is not there', async () => {
    const databaseUrl = place.databaseUrl.replace(`${OWNER}@`, `${OWNER}:hush@`).replace(/:\d+\//, ':1/');
    const refusal: unknown = await migrate({ ...place, databaseUrl }).catch((error: unknown) => error);
    expect(String(refusal)).toMatch(/^Error: The database test_\w+ at 127\.0\.0\.1:1 can't be reached: .*ECONNREFUSED/);
    expect(String(refusal)).not.toContain('hush');
  });

  test('begins a migration anew whose process was killed in the middle of it', async () => {
    await useMigrated();
    const slow = '20260103000000_slow';
    addMigration(slow, 'CREATE TABLE "vans" ("id" INTEGER PRIMARY KEY); SELECT pg_sleep(60); -- no end of line');
    const child = fork(fileURLToPath(new URL('../dist/migrations/child.js', import.meta.url)), { execArgv: [] });
    child.send({ kind: 'apply', ...place });
    const sleeping = "select pid from pg_stat_activity where query like '%pg_sleep(60)%' and pid <> pg_backend_pid()";
    while ((await rowsOf(place.databaseUrl, sleeping)).length === 0) await sleep(20);
    child.kill('SIGKILL');
    await once(child, 'exit');
    // The server notices a client that is gone when it next speaks to it; a restart of either has the same end.
    await rowsOf(place.databaseUrl, sleeping.replace('select pid', 'select pg_terminate_backend(pid)'));
    expect((await stateOf()).failed).toEqual([{ name: slow, log: '' }]);

    fs.writeFileSync(fileOf(slow), 'CREATE TABLE "vans" ("id" INTEGER PRIMARY KEY); -- no end of line');
    expect(await migrate(place)).toEqual([slow]);
    expect(await stateOf()).toEqual({ pending: [], edited: [], failed: [] });
  });

  test('ends its child when whoever asked is gone', async () => {
    const child = fork(fileURLToPath(new URL('../dist/migrations/child.js', import.meta.url)), { execArgv: [] });
    child.disconnect();
    expect(await once(child, 'exit')).toEqual([1, null]);
  });
});

describe('migrationState', () => {
  test('names everything as pending on an empty database', async () => {
    expect(await stateOf()).toEqual({ pending: [init, wheels], edited: [], failed: [] });
  });

  test('names nothing on a migrated database', async () => {
    await useMigrated();
    expect(await stateOf()).toEqual({ pending: [], edited: [], failed: [] });
  });

  test('names an edited file', async () => {
    await useMigrated();
    fs.appendFileSync(fileOf(wheels), '-- one more thing');
    expect(await stateOf()).toEqual({ pending: [], edited: [wheels], failed: [] });
  });

  test('does not mind migrations of a newer version of the program', async () => {
    await useMigrated();
    fs.rmSync(path.dirname(fileOf(wheels)), { recursive: true });
    expect(await stateOf()).toEqual({ pending: [], edited: [], failed: [] });
  });
});

describe('migrationDrift', () => {
  test('is empty when the migrations make what the schema says', async () => {
    await useMigrated();
    expect(await migrationDrift(place)).toBe('');
  });

  test('is the SQL that brings the database back to its schema', async () => {
    await useMigrated();
    await rowsOf(place.databaseUrl, 'alter table cars drop column plate');
    expect(await migrationDrift(place)).toContain('ALTER TABLE "cars" ADD COLUMN');
  });
});

describe('newMigration', () => {
  const schema = () => path.join(place.prismaDir, 'schema.prisma');

  test('writes what the schema has and the migrations lack', async () => {
    await useMigrated();
    fs.appendFileSync(schema(), '\nmodel Van {\n  id Int @id\n\n  @@map("vans")\n}\n');
    const name = await newMigration({ ...place, name: 'vans' });
    expect(await migrate(place)).toEqual([name]);
    expect(await migrationDrift(place)).toBe('');
  });

  test('writes nothing when there is nothing to change', async () => {
    await useMigrated();
    expect(await newMigration({ ...place, name: 'nothing' })).toBeUndefined();
  });

  test('refuses a database that lacks a migration', async () => {
    await expect(newMigration({ ...place, name: 'early' })).rejects.toThrow(`This database lacks ${init}, ${wheels}`);
  });

  test('refuses a name that is not one', async () => {
    await expect(newMigration({ ...place, name: '../x' })).rejects.toThrow('takes a-z, 0-9 and _ only');
  });
});

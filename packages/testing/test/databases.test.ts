import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createEmptyDatabase, createTestDatabase, onServer, type TestDatabase } from '../src/database/databases.ts';
import { setUpDatabases } from '../src/database/global-setup.ts';

const prismaDir = fs.mkdtempSync(path.join(os.tmpdir(), 'databases-'));
const migration = path.join(prismaDir, 'migrations', '20260101000000_init', 'migration.sql');
const teardowns: (() => Promise<void>)[] = [];

const rowsOf = (database: TestDatabase, sql: string) =>
  onServer(database.url, async (client) => (await client.query(sql)).rows);

beforeAll(async () => {
  fs.mkdirSync(path.dirname(migration), { recursive: true });
  fs.writeFileSync(
    path.join(prismaDir, 'schema.prisma'),
    'datasource db {\n  provider = "postgresql"\n}\n\nmodel Car {\n  id Int @id\n\n  @@map("cars")\n}\n',
  );
  fs.writeFileSync(migration, 'CREATE TABLE "cars" ("id" INTEGER PRIMARY KEY);');
  teardowns.push(await setUpDatabases({ prismaDir, name: 'cars' }));
});

afterAll(async () => {
  for (const tearDown of teardowns) await tearDown();
  fs.rmSync(prismaDir, { recursive: true });
});

describe('createTestDatabase', () => {
  test('creates a migrated database', async () => {
    const database = await createTestDatabase();
    expect(await rowsOf(database, 'select id from cars')).toEqual([]);
    await database.drop();
  });

  test('creates a separate database for each call', async () => {
    const [one, other] = await Promise.all([createTestDatabase(), createTestDatabase()]);
    await rowsOf(one, 'insert into cars values (1)');
    expect(await rowsOf(other, 'select id from cars')).toEqual([]);
    await Promise.all([one.drop(), other.drop()]);
  });

  test('creates a database that can be dropped while it is in use', async () => {
    const database = await createTestDatabase();
    await onServer(database.url, async (client) => {
      client.on('error', () => {}); // the server ends this connection
      await database.drop();
    });
    await expect(rowsOf(database, 'select 1')).rejects.toMatchObject({ code: '3D000' });
  });
});

test('createEmptyDatabase creates a database without tables', async () => {
  const database = await createEmptyDatabase();
  expect(await rowsOf(database, `select to_regclass('cars') as cars`)).toEqual([{ cars: null }]);
  await database.drop();
});

describe('setUpDatabases', () => {
  test('uses the server of TEST_POSTGRES_URL and an existing template', async () => {
    const { TEST_POSTGRES_URL, TEST_TEMPLATE } = process.env;
    const tearDown = await setUpDatabases({ prismaDir, name: 'cars' });
    await tearDown();
    expect(process.env).toMatchObject({ TEST_POSTGRES_URL, TEST_TEMPLATE });
    // The teardown does not stop a server that it did not start.
    const database = await createTestDatabase();
    await database.drop();
  });

  test('creates another template if a migration has changed', async () => {
    const { TEST_TEMPLATE } = process.env;
    fs.appendFileSync(migration, '\nCREATE TABLE "vans" ("id" INTEGER PRIMARY KEY);');
    await setUpDatabases({ prismaDir, name: 'cars' });
    expect(process.env.TEST_TEMPLATE).not.toBe(TEST_TEMPLATE);
    const database = await createTestDatabase();
    expect(await rowsOf(database, 'select id from vans')).toEqual([]);
    await database.drop();
  });

  test('starts a server for each run of `jest --watch`, which sets up and tears down repeatedly in one process', async () => {
    const { TEST_POSTGRES_URL, TEST_TEMPLATE } = process.env;
    try {
      delete process.env.TEST_POSTGRES_URL;
      for (let run = 1; run <= 2; run++) {
        const tearDown = await setUpDatabases({ prismaDir, name: 'cars' });
        const database = await createTestDatabase();
        expect(await rowsOf(database, 'select id from cars')).toEqual([]);
        await tearDown();
        expect(process.env.TEST_POSTGRES_URL).toBeUndefined();
      }
    } finally {
      Object.assign(process.env, { TEST_POSTGRES_URL, TEST_TEMPLATE });
    }
  });
});

import path from 'node:path';
import { differencesOf, migrationDrift, readExpectedObjects, readObjects } from '@svc/database/development';
import { createTestDatabase, onServer } from '@svc/testing';
import { sealedColumns } from '../../src/database/encryption.ts';

const prismaDir = path.resolve(import.meta.dirname, '../../../../prisma/fleet');

test('the migrations create exactly the schema of schema.prisma', async () => {
  const database = await createTestDatabase();
  expect(await migrationDrift({ prismaDir, databaseUrl: database.url })).toBe('');
  await database.drop();
});

test('objects.json contains the objects that the migrations create (svc-migrate objects writes it)', async () => {
  const database = await createTestDatabase();
  const objects = await onServer(database.url, (client) => readObjects(async (sql) => (await client.query(sql)).rows));
  await database.drop();
  expect(differencesOf(readExpectedObjects(prismaDir), objects)).toEqual([]);
});

test('each table with sealed values has a column for the ID of their key', async () => {
  const { url, drop } = await createTestDatabase();
  const tables = await onServer(url, async (client) => {
    const { rows } = await client.query(
      `SELECT table_name FROM information_schema.columns WHERE column_name = 'key_id' ORDER BY 1`,
    );
    return rows.map(({ table_name }) => table_name);
  });
  await drop();
  expect(tables).toEqual(sealedColumns.map(({ table }) => table).sort());
});

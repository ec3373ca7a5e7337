import path from 'node:path';
import { differencesOf, migrationDrift, readExpectedObjects, readObjects } from '@svc/database/development';
import { createTestDatabase, onServer } from '@svc/testing';

const prismaDir = path.resolve(import.meta.dirname, '../../../prisma/hub');

test('the migrations create exactly the schema in schema.prisma', async () => {
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

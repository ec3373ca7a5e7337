import path from 'node:path';
import { migrationDrift } from '@svc/database';
import { createTestDatabase, onServer } from '@svc/testing';
import { sealedColumns } from '../../src/database/encryption.ts';

test('the migrations create exactly the schema of schema.prisma', async () => {
  const database = await createTestDatabase();
  const prismaDir = path.resolve(import.meta.dirname, '../../../../prisma/fleet');
  expect(await migrationDrift({ prismaDir, databaseUrl: database.url })).toBe('');
  await database.drop();
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

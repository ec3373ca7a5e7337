import path from 'node:path';
import { migrationDrift } from '@svc/database';
import { createTestDatabase } from '@svc/testing';

test('the migrations create exactly the schema in schema.prisma', async () => {
  const database = await createTestDatabase();
  const prismaDir = path.resolve(import.meta.dirname, '../../../prisma/hub');
  expect(await migrationDrift({ prismaDir, databaseUrl: database.url })).toBe('');
  await database.drop();
});

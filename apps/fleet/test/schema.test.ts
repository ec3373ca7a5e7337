import path from 'node:path';
import { migrationDrift } from '@svc/database';
import { createTestDatabase } from '@svc/testing';

test('the migrations make exactly what the schema says', async () => {
  const database = await createTestDatabase();
  const prismaDir = path.resolve(import.meta.dirname, '../../../prisma/fleet');
  expect(await migrationDrift({ prismaDir, databaseUrl: database.url })).toBe('');
  await database.drop();
});

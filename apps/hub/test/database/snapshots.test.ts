// Reads in one snapshot of the database.
import { Prisma } from '../../src/generated/prisma/client.ts';
import { startWorld } from '../world.ts';

const world = await startWorld({ limits: { connections: 6 } });
afterAll(() => world.stop());
const { reader } = world.database;

const CONNECTION = Prisma.sql`SELECT pg_backend_pid() AS pid`;
const CATEGORIES = Prisma.sql`SELECT id FROM categories`;

test('statements of a snapshot do not see later changes', async () => {
  await reader.inSnapshot(async (snapshot) => {
    const before = await snapshot.read(CATEGORIES);
    await world.aCategory();
    expect(await snapshot.read(CATEGORIES)).toEqual(before);
    expect(await reader.read(CATEGORIES)).toHaveLength(before.length + 1);
  });
});

test('a snapshot cannot change the database, and its connection is reused after an error', async () => {
  const failures = Array.from({ length: 10 }, () =>
    reader.inSnapshot((snapshot) => snapshot.read(Prisma.sql`UPDATE catalog_clock SET at = at`)),
  );
  for (const { status } of await Promise.allSettled(failures)) expect(status).toBe('rejected');
  expect(await reader.inSnapshot((snapshot) => snapshot.read(CATEGORIES))).toEqual(await reader.read(CATEGORIES));
});

test('a snapshot fails if its connection ends, and the next one has another connection', async () => {
  const failed = reader.inSnapshot(async (snapshot) => {
    const [{ pid } = { pid: 0 }] = await snapshot.read<{ pid: number }>(CONNECTION);
    await reader.read(Prisma.sql`SELECT pg_terminate_backend(${pid}::int)`);
    return snapshot.read(CATEGORIES);
  });
  await expect(failed).rejects.toMatchObject({ code: 'unavailable' });
  expect(await reader.inSnapshot((snapshot) => snapshot.read(CATEGORIES))).toEqual(await reader.read(CATEGORIES));
});

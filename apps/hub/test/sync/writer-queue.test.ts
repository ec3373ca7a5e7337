import { eventually } from '@svc/testing';
// A catalog write holds the row lock of the catalog clock until it commits, so stamps increase in
// commit order.
import { writeCatalog } from '../../src/database/catalog-write.ts';
import { startWorld } from '../world.ts';

const world = await startWorld();
const { client } = world.database;
afterAll(() => world.stop());

async function isWaiting(): Promise<boolean> {
  const waiting = await client.$queryRaw<unknown[]>`
    SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  return waiting.length > 0;
}

test('a write waits until the previous write has committed, and has a later stamp', async () => {
  const first = await world.aTemplate();
  const second = await world.aTemplate();
  const publish = (id: string) =>
    writeCatalog(world.database, ({ template }) => template.update({ where: { id }, data: { is_featured: true } }));
  const { pending, committedEarly } = await writeCatalog(world.database, async ({ template }) => {
    await template.update({ where: { id: first.id }, data: { is_featured: true } });
    let isCommitted = false;
    const pending = publish(second.id).finally(() => {
      isCommitted = true;
    });
    await eventually('the second write waits or commits', async () => isCommitted || (await isWaiting()));
    return { pending, committedEarly: isCommitted };
  });
  await pending;
  expect(committedEarly).toBe(false);
  const [earlier, later] = await Promise.all(
    [first, second].map(({ id }) => client.template.findUniqueOrThrow({ where: { id } })),
  );
  expect(later?.updated_at.getTime()).toBeGreaterThan(earlier?.updated_at.getTime() ?? Number.NaN);
});

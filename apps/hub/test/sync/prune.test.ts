// Pruning of history and the floor, and the responses to clients that sync by `since`.
import { onServer } from '@svc/testing';
import type { CatalogTransaction } from '../../src/database/catalog-write.ts';
import { startWorld, type World } from '../world.ts';
import { clientBySince, listingOf, lostIn, sinceQuery, updatesOf } from './mirror.ts';
import { after, DAY_MS, historyOf } from './prune.ts';

let world: World;
let history: ReturnType<typeof historyOf>;
beforeEach(async () => {
  world = await startWorld();
  history = historyOf(world);
});
afterEach(() => world.stop());

test('the floor is the latest end of the deleted intervals, and open intervals are kept', async () => {
  const first = await world.aTemplate();
  const second = await world.aTemplate();
  const third = await world.aTemplate();
  const firstGone = await history.remove(first);
  const { open } = await history.ends();
  const secondGone = await history.remove(second);
  const thirdGone = await history.remove(third);
  expect(await history.floor()).toBeNull();
  await history.prune(firstGone);
  expect(await history.floor()).toBeNull();
  await history.prune(thirdGone);
  expect(await history.floor()).toEqual(secondGone);
  expect(await history.ends()).toEqual({ ended: [thirdGone], open: open - 2 });
});

test.each<[string, (given: { id: string; org_id: string }) => (catalog: CatalogTransaction) => Promise<unknown>]>([
  [
    'private category',
    ({ id }) =>
      ({ category }) =>
        category.update({ where: { id }, data: { is_private: false } }),
  ],
  [
    'grant',
    ({ org_id }) =>
      ({ catalogAccess }) =>
        catalogAccess.deleteMany({ where: { org_id } }),
  ],
])('pruning the ended interval of a %s raises the floor', async (_, end) => {
  const organization = await world.anOrganization();
  const category = await world.aCategory({ is_private: true });
  await world.aTemplate({ category_id: category.id });
  await world.aGrant(organization, category);
  const ended = await history.write(end({ id: category.id, org_id: organization.id }));
  await history.edit(await world.aTemplate());
  await history.prune(new Date(Date.now() + DAY_MS));
  expect(await history.floor()).toEqual(ended);
});

test('the floor never decreases, even if an older interval is deleted later', async () => {
  const old = await world.aTemplate();
  const young = await world.aTemplate();
  await history.remove(old);
  const youngGone = await history.remove(young);
  await onServer(world.databaseUrl, async (client) => {
    await client.query('BEGIN');
    // A prune skips the locked row.
    await client.query('SELECT FROM template_scopes WHERE template_id = $1 FOR UPDATE', [old.id]);
    await history.prune(after(youngGone));
    await client.query('ROLLBACK');
  });
  expect((await history.ends()).ended).toHaveLength(1);
  expect(await history.floor()).toEqual(youngGone);
  await history.prune(after(youngGone));
  expect((await history.ends()).ended).toHaveLength(0);
  expect(await history.floor()).toEqual(youngGone);
  await history.prune(new Date(0));
  expect(await history.floor()).toEqual(youngGone);
});

test('a since before the floor causes a reset, and a since at the floor does not', async () => {
  const early = await world.aTemplate();
  const late = await world.aTemplate();
  const { get } = world.anonymous;
  const before = clientBySince(get);
  await before.sync();
  const earlyGone = await history.remove(early);
  const between = clientBySince(get);
  await between.sync();
  const lateGone = await history.remove(late);
  await history.prune(lateGone);

  expect(await history.floor()).toEqual(earlyGone);
  const below = await updatesOf(get, sinceQuery(after(earlyGone, -1).toISOString()));
  expect(below).toMatchObject({ reset: true, has_more: false, removed: [], checked_at: lateGone.toISOString() });
  expect(new Set(below.templates.map(({ id }) => id))).toEqual(new Set((await listingOf(get)).keys()));
  const at = await updatesOf(get, sinceQuery(earlyGone.toISOString()));
  expect(at).toMatchObject({ reset: false, templates: [], removed: [{ id: late.id }] });
  for (const client of [before, between]) {
    await client.sync();
    expect(lostIn(client.held, await listingOf(get))).toEqual([]);
  }
});

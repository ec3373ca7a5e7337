// A cursor stays valid after a prune if its client does not lose a change.
import { byDepth } from '@svc/testing';
import { startWorld, type World } from '../world.ts';
import { clientByCursor, clientBySince, listingOf, lostIn } from './mirror.ts';
import { after, DAY_MS, historyOf } from './prune.ts';

let world: World;
let history: ReturnType<typeof historyOf>;
beforeEach(async () => {
  world = await startWorld();
  history = historyOf(world);
});
afterEach(() => world.stop());

type Client = ReturnType<typeof clientByCursor>;

/**
 * Continues the walk to its end, and expects a complete copy. @returns whether the first page was a
 * reset
 */
async function continueWalk(client: Client): Promise<boolean> {
  const first = await client.page();
  const rest = first.has_more ? await client.sync() : [];
  expect(rest.filter(({ reset }) => reset)).toEqual([]);
  expect(lostIn(client.held, await listingOf(world.anonymous.get))).toEqual([]);
  return first.reset;
}

/**
 * Brings a client to a cursor of each kind. @returns the floor from which the cursor may be invalid
 */
const cursors = {
  'the cursor of a finished walk': async (client: Client) => {
    await client.sync();
    return history.now();
  },
  'the cursor of a page of a full walk': async (client: Client) => {
    expect((await client.page()).has_more).toBe(true);
    return history.now();
  },
  'the cursor of a page of changes': async (client: Client) => {
    await client.sync();
    const stamp = await history.write(({ template }) =>
      template.updateMany({ data: { description: `${Math.random()}` } }),
    );
    expect((await client.page()).has_more).toBe(true);
    return stamp;
  },
};

test.each<[keyof typeof cursors, boolean, boolean, boolean]>([
  ['the cursor of a finished walk', false, false, true],
  ['the cursor of a page of a full walk', false, false, true],
  ['the cursor of a page of changes', false, true, true],
])('%s causes a reset with the floor before it: %s, at it: %s, after it: %s', async (kind, ...resets) => {
  for (const _ of Array(3)) await world.aTemplate();
  const clients = resets.map(() => clientByCursor(world.anonymous.get, 1));
  for (const [index, client] of clients.entries()) {
    const time = await cursors[kind](client);
    const gone = await world.aTemplate();
    await history.remove(gone);
    await world.database.client.catalogClock.updateMany({ data: { floor: after(time, index - 1) } });
    expect(await continueWalk(client)).toBe(resets[index]);
  }
});

test('resets a walk inside a stamp whose removals were pruned, so that no removal is lost', async () => {
  const made = [await world.aTemplate(), await world.aTemplate(), await world.aTemplate()];
  const inTheMiddle = clientByCursor(world.anonymous.get, 1);
  const finished = clientByCursor(world.anonymous.get, 1);
  await Promise.all([inTheMiddle.sync(), finished.sync()]);
  const [kept = '', ...gone] = made.map(({ id }) => id).sort();
  const stamp = await history.write(async ({ template }) => {
    await template.update({ where: { id: kept }, data: { description: 'new' } });
    await template.deleteMany({ where: { id: { in: gone } } });
  });
  expect(await inTheMiddle.page()).toMatchObject({ has_more: true, removed: [] });
  await finished.sync();
  await history.prune(after(stamp));
  expect(await history.floor()).toEqual(stamp);
  expect(await continueWalk(finished)).toBe(false);
  expect(await continueWalk(inTheMiddle)).toBe(true);
});

test('prunes a commit when its successor is old enough, and never the newest commit', async () => {
  const { id: category_id } = await world.aCategory();
  const made = [await world.aTemplate({ category_id }), await world.aTemplate({ category_id })];
  made.push(await world.aTemplate({ category_id }));
  // The three just made.
  const [first, second, third] = made.map(({ updated_at }) => updated_at) as [Date, Date, Date];
  await history.prune(second);
  expect(await history.commits()).toEqual([first, second, third]);
  await history.prune(after(second));
  expect(await history.commits()).toEqual([second, third]);
  await history.prune(new Date(Date.now() + 1000 * DAY_MS));
  expect(await history.commits()).toEqual([third]);
});

test('resets a client whose commit was pruned, and continues a client whose commit is kept', async () => {
  const template = await world.aTemplate();
  const early = clientByCursor(world.anonymous.get);
  const late = clientByCursor(world.anonymous.get);
  await early.sync();
  const superseded = await history.edit(template);
  await late.sync();
  const next = await history.edit(template);
  expect(superseded.getTime()).toBeLessThan(next.getTime());
  await history.prune(next);
  expect(await continueWalk(late)).toBe(false);
  expect(await continueWalk(early)).toBe(true);
});

test('pruning an idle catalog for a year resets no client', async () => {
  const days = byDepth({ short: 60, full: 7, long: 1 });
  for (const _ of Array(3)) await history.remove(await world.aTemplate());
  const template = await world.aTemplate();
  const bySince = clientBySince(world.anonymous.get);
  const byCursor = clientByCursor(world.anonymous.get);
  await bySince.sync();
  await byCursor.sync();
  for (let day = 0; day < 365; day += days) {
    await history.prune(after(new Date(), (day - 90) * DAY_MS));
    expect((await bySince.sync()).reset).toBe(false);
    expect(await continueWalk(byCursor)).toBe(false);
  }
  expect((await history.ends()).ended).toEqual([]);
  await history.edit(template);
  expect((await bySince.sync()).reset).toBe(false);
  expect(await continueWalk(byCursor)).toBe(false);
});

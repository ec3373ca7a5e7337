import { aTemplate } from '../a-template.ts';
import { aCategory, type FakeHub, refuse } from '../fake-hub.ts';
import { startSyncWorld } from './sync-world.ts';

const SYNC = '/api/v1/catalog/sync';

const { hub, world, mirror } = await startSyncWorld();
let empty: ReturnType<FakeHub['now']>;

beforeEach(async () => {
  empty = hub.now();
  hub.publish(aTemplate({ name: 'Kept' }));
  hub.setCategories(aCategory());
  await sync();
});

const sync = (body = {}) => world.asOperator.post(SYNC, body);
const stored = async () => {
  const { templates, categories } = await mirror.rows();
  return { templates, categories };
};

test('an empty response of a hub with a mirrored catalog is rejected the first time', async () => {
  const before = await stored();
  hub.restore(empty);
  const refused = await sync();
  expect(refused).toMatchObject({ status: 502, body: { code: 'hub_unreachable' } });
  expect(refused.body.detail).toMatch(/empty.*second/);
  expect((await world.asViewer.get(SYNC)).body).toMatchObject({
    status: 'stale',
    last_failure: { reason: refused.body.detail },
    counts: { templates: 1, categories: 1 },
  });
  expect(await stored()).toMatchObject({
    templates: [{ t: expect.stringContaining('Kept') }],
    categories: before.categories,
  });
});

test('an empty response of a hub is accepted the second time', async () => {
  hub.restore(empty);
  await sync();
  expect((await sync()).body).toMatchObject({
    status: 'fresh',
    last_sync: { full: true, updated: 0, removed: 1 },
    counts: { templates: 0, categories: 0 },
  });
});

test('the first empty response may have been received by another replica', async () => {
  hub.restore(empty);
  await sync();
  await world.aReplica({ hub }).sync.run();
  expect(await mirror.names()).toEqual([]);
});

test('another failure between two empty responses does not affect their count', async () => {
  hub.restore(empty);
  await sync();
  hub.behave(refuse('unavailable'));
  expect((await sync()).status).toBe(502);
  expect(await mirror.names()).toEqual(['Kept']);
  hub.recover();
  expect((await sync()).body).toMatchObject({ status: 'fresh', counts: { templates: 0 } });
});

test('a catalog that is not empty is accepted at once, and resets the count of empty responses', async () => {
  const full = hub.now();
  hub.restore(empty);
  await sync();
  hub.restore(full);
  expect((await sync()).body).toMatchObject({ status: 'fresh', counts: { templates: 1 } });
  hub.restore(empty);
  expect((await sync()).status).toBe(502);
  expect(await mirror.names()).toEqual(['Kept']);
});

test('an organization that loses access to all templates one by one gets an empty mirror at once', async () => {
  hub.withdrawAll();
  expect((await sync()).body).toMatchObject({ status: 'fresh', last_sync: { removed: 1 }, counts: { templates: 0 } });
});

test('a fleet with an empty mirror accepts an empty hub at once', async () => {
  hub.withdrawAll();
  await sync();
  hub.restore(empty);
  expect((await sync({ full: true })).body).toMatchObject({ status: 'fresh', counts: { templates: 0 } });
});

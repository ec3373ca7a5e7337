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

test('a hub that is empty all of a sudden is not believed at once', async () => {
  const before = await stored();
  hub.restore(empty);
  const refused = await sync();
  expect([refused.status, refused.body.code]).toEqual([502, 'hub_unreachable']);
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

test('a hub that is empty twice is believed', async () => {
  hub.restore(empty);
  await sync();
  expect((await sync()).body).toMatchObject({
    status: 'fresh',
    last_sync: { full: true, updated: 0, removed: 1 },
    counts: { templates: 0, categories: 0 },
  });
});

test('what another replica saw the first time counts', async () => {
  hub.restore(empty);
  await sync();
  await world.aReplica({ hub }).sync.run();
  expect(await mirror.names()).toEqual([]);
});

test('a failure in between counts neither way', async () => {
  hub.restore(empty);
  await sync();
  hub.behave(refuse('unavailable'));
  expect((await sync()).status).toBe(502);
  expect(await mirror.names()).toEqual(['Kept']);
  hub.recover();
  expect((await sync()).body).toMatchObject({ status: 'fresh', counts: { templates: 0 } });
});

test('a hub that shows something again is believed at once, and has to be empty twice another time', async () => {
  const full = hub.now();
  hub.restore(empty);
  await sync();
  hub.restore(full);
  expect((await sync()).body).toMatchObject({ status: 'fresh', counts: { templates: 1 } });
  hub.restore(empty);
  expect((await sync()).status).toBe(502);
  expect(await mirror.names()).toEqual(['Kept']);
});

test('an organization that loses sight of everything, one by one, is believed at once', async () => {
  hub.withdrawAll();
  expect((await sync()).body).toMatchObject({ status: 'fresh', last_sync: { removed: 1 }, counts: { templates: 0 } });
});

test('a fleet that has nothing believes an empty hub at once', async () => {
  hub.withdrawAll();
  await sync();
  hub.restore(empty);
  expect((await sync({ full: true })).body).toMatchObject({ status: 'fresh', counts: { templates: 0 } });
});

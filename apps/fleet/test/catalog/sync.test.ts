import { aTemplate } from '../a-template.ts';
import { type FakeHub, startFakeHub } from '../fake-hub.ts';
import { startWorld, type World } from '../world.ts';

const SYNC = '/api/v1/catalog/sync';
const BEGINNING = '1970-01-01T00:00:00.000Z';

let hub: FakeHub;
let world: World;

beforeEach(async () => {
  hub = await startFakeHub();
  world = await startWorld({ hub });
});
afterEach(async () => {
  await world.stop();
  await hub.stop();
});

const sync = async () => {
  const { status, body } = await world.asOperator.post(SYNC);
  expect(status).toBe(200);
  return body;
};
const mirrored = async (): Promise<string[]> =>
  (await world.asViewer.get('/api/v1/catalog/templates')).body.templates.map(({ name }: { name: string }) => name);

test('before the first sync the state is never_synced, and the mirror is empty', async () => {
  expect((await world.asViewer.get(SYNC)).body).toEqual({
    status: 'never_synced',
    hub_url: hub.url,
    checked_at: null,
    last_success_at: null,
    age_seconds: null,
    stale_since: null,
    last_failure: null,
    last_sync: null,
    counts: { templates: 0 },
  });
  expect(await mirrored()).toEqual([]);
});

test('the first sync fetches everything', async () => {
  hub.publish(aTemplate({ name: 'One' }), aTemplate({ name: 'Two' }));
  expect(await sync()).toEqual({
    status: 'fresh',
    hub_url: hub.url,
    checked_at: hub.checkedAt(),
    last_success_at: expect.any(String),
    age_seconds: expect.any(Number),
    stale_since: null,
    last_failure: null,
    last_sync: { full: true, updated: 2, removed: 0 },
    counts: { templates: 2 },
  });
  expect(hub.requests.map(({ since }) => since)).toEqual([BEGINNING]);
  expect(await mirrored()).toEqual(['One', 'Two']);
});

test('POST and GET tell the same state', async () => {
  const { age_seconds: _, ...posted } = await sync();
  expect((await world.asViewer.get(SYNC)).body).toMatchObject(posted);
});

test('the key goes to the hub, and the state does not show it', async () => {
  const state = await sync();
  expect(hub.requests[0]?.authorization).toBe(`Bearer ${hub.key}`);
  expect(JSON.stringify(state)).not.toContain(hub.key);
});

test('a template is shown as the hub sent it', async () => {
  const template = aTemplate({ slug: 'whole', gpu_count: 2, tags: ['a', 'b'] });
  hub.publish(template);
  await sync();
  expect((await world.asViewer.get('/api/v1/catalog/templates/whole')).body).toEqual(template);
});

test('after the first sync only what changed travels, since the last checked_at', async () => {
  const [kept, changed] = [aTemplate({ name: 'Kept' }), aTemplate({ name: 'Old' })];
  hub.publish(kept, changed);
  const { checked_at } = await sync();
  hub.publish({ ...changed, name: 'New' });
  expect(await sync()).toMatchObject({
    checked_at: hub.checkedAt(),
    last_sync: { full: false, updated: 1, removed: 0 },
    counts: { templates: 2 },
  });
  expect(hub.requests[1]?.since).toBe(checked_at);
  expect(await mirrored()).toEqual(['Kept', 'New']);
});

test('when nothing changed nothing travels', async () => {
  hub.publish(aTemplate());
  const { checked_at } = await sync();
  expect(await sync()).toMatchObject({
    checked_at,
    last_sync: { full: false, updated: 0, removed: 0 },
    counts: { templates: 1 },
  });
});

test('what the hub withdrew goes', async () => {
  const [kept, gone] = [aTemplate({ name: 'Kept' }), aTemplate({ name: 'Gone' })];
  hub.publish(kept, gone);
  await sync();
  hub.withdraw(gone);
  expect(await sync()).toMatchObject({ last_sync: { full: false, updated: 0, removed: 1 }, counts: { templates: 1 } });
  expect(await mirrored()).toEqual(['Kept']);
});

test('what was withdrawn and shown again is there', async () => {
  const template = aTemplate({ name: 'Back' });
  hub.publish(template);
  await sync();
  hub.withdraw(template);
  await sync();
  hub.publish(template);
  await sync();
  expect(await mirrored()).toEqual(['Back']);
});

test('a change with an older updated_at is stored all the same', async () => {
  const template = aTemplate({ name: 'Now' });
  hub.publish(template);
  await sync();
  hub.publish({ ...template, name: 'Restored', updated_at: '2020-01-01T00:00:00.000Z' });
  await sync();
  expect(await mirrored()).toEqual(['Restored']);
});

test('more templates than one statement stores come over whole', async () => {
  hub.publish(...Array.from({ length: 1203 }, (_, index) => aTemplate({ name: `Many ${index}` })));
  expect(await sync()).toMatchObject({ last_sync: { updated: 1203 }, counts: { templates: 1203 } });
});

describe('without a hub', () => {
  test('the state is not_configured', async () => {
    const without = world.aReplica();
    expect((await without.api(await bearer('viewer')).get(SYNC)).body).toMatchObject({
      status: 'not_configured',
      hub_url: null,
    });
  });

  test('a sync is refused, and says what to set', async () => {
    const without = world.aReplica();
    const { status, body } = await without.api(await bearer('operator')).post(SYNC);
    expect([status, body.code]).toEqual([409, 'hub_not_configured']);
    expect(body.detail).toBe('No hub is configured: set HUB_URL and HUB_API_KEY.');
  });

  test('the mirror goes on serving', async () => {
    hub.publish(aTemplate({ name: 'Kept' }));
    await sync();
    const { body } = await world
      .aReplica()
      .api(await bearer('viewer'))
      .get('/api/v1/catalog/templates');
    expect(body.templates).toHaveLength(1);
  });
});

test('a body with members is refused', async () => {
  const { status, body } = await world.asOperator.post(SYNC, { full: true });
  expect([status, body.code]).toEqual([400, 'validation_failed']);
});

describe('with another hub or another key', () => {
  test.each([
    ['hub', () => startFakeHub(hub.key)],
    ['key', () => startFakeHub()],
  ])('another %s is walked from the beginning, and what it does not list goes', async (_, start) => {
    const shared = aTemplate({ name: 'Shared' });
    hub.publish(shared, aTemplate({ name: 'Of the first' }));
    await sync();
    const other = await start();
    other.publish(shared, aTemplate({ name: 'Of the second' }));
    const moved = world.aReplica({ hub: other });
    const { body } = await moved.api(await bearer('operator')).post(SYNC);
    await other.stop();
    expect(body).toMatchObject({ hub_url: other.url, last_sync: { full: true, updated: 2, removed: 1 } });
    expect(other.requests.map(({ since }) => since)).toEqual([BEGINNING]);
    expect(await mirrored()).toEqual(['Of the second', 'Shared']);
  });
});

const bearer = async (role: 'viewer' | 'operator') => `Bearer ${(await world.aToken({ role })).secret}`;

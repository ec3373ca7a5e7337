import { aTemplate } from '../a-template.ts';
import { startFakeHub } from '../fake-hub.ts';
import { startSyncWorld } from './sync-world.ts';

const SYNC = '/api/v1/catalog/sync';
const TEMPLATES = '/api/v1/catalog/templates';

const { hub, world } = await startSyncWorld();

const bearer = async (role: 'viewer' | 'operator') => `Bearer ${(await world.aToken({ role })).secret}`;

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
    expect(body.detail).toBe('No hub is configured: set HUB_URL and HUB_API_KEY, or PUT /api/v1/settings/hub.');
  });

  test('the mirror goes on serving', async () => {
    hub.publish(aTemplate({ name: 'Kept' }));
    await world.sync.run();
    const { body } = await world
      .aReplica()
      .api(await bearer('viewer'))
      .get(TEMPLATES);
    expect(body.templates).toHaveLength(1);
  });
});

describe('with another hub or another key', () => {
  test.each([
    ['hub', () => startFakeHub(hub.key)],
    ['key', () => startFakeHub()],
  ])('another %s is walked from the beginning, and what it does not list goes', async (_, start) => {
    const shared = aTemplate({ name: 'Shared' });
    hub.publish(shared, aTemplate({ name: 'Of the first' }));
    await world.sync.run();
    const other = await start();
    other.publish(shared, aTemplate({ name: 'Of the second' }));
    const moved = world.aReplica({ hub: other });
    const { body } = await moved.api(await bearer('operator')).post(SYNC);
    await other.stop();
    expect(body).toMatchObject({ hub_url: other.url, last_sync: { full: true, updated: 2, removed: 1 } });
    const { templates } = (await world.asViewer.get(TEMPLATES)).body;
    expect(templates.map(({ name }: { name: string }) => name)).toEqual(['Of the second', 'Shared']);
  });
});

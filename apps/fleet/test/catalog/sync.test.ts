import { templateExamples } from '@svc/contract';
import { aTemplate } from '../a-template.ts';
import { aCategory, refuse, startFakeHub } from '../fake-hub.ts';
import { startSyncWorld } from './sync-world.ts';

const SYNC = '/api/v1/catalog/sync';

const TEMPLATES = '/api/v1/catalog/templates';

const { hub, world } = await startSyncWorld();

const sync = async () => {
  const { status, body } = await world.asOperator.post(SYNC);
  expect(status).toBe(200);
  return body;
};
const mirrored = async (): Promise<string[]> =>
  (await world.asViewer.get('/api/v1/catalog/templates')).body.templates.map(({ name }: { name: string }) => name);

test('before the first sync the sync state is never_synced, and the mirror is empty', async () => {
  expect((await world.asViewer.get(SYNC)).body).toEqual({
    status: 'never_synced',
    hub_url: hub.url,
    checked_at: null,
    last_success_at: null,
    age_seconds: null,
    stale_since: null,
    last_failure: null,
    next_try_at: null,
    last_sync: null,
    counts: { templates: 0, categories: 0, applications: 0 },
    skipped: { total: 0, entries: [] },
    from_bundle: false,
    organization: null,
  });
  expect(await mirrored()).toEqual([]);
});

test('the first sync fetches everything', async () => {
  hub.publish(aTemplate({ name: 'One' }), aTemplate({ name: 'Two' }));
  hub.setCategories(aCategory());
  expect(await sync()).toEqual({
    status: 'fresh',
    hub_url: hub.url,
    checked_at: hub.checkedAt(),
    last_success_at: expect.any(String),
    age_seconds: expect.any(Number),
    stale_since: null,
    last_failure: null,
    next_try_at: null,
    last_sync: { full: true, updated: 2, removed: 0 },
    counts: { templates: 2, categories: 1, applications: 0 },
    skipped: { total: 0, entries: [] },
    from_bundle: false,
    organization: hub.organization(),
  });
  expect(hub.requests).toMatchObject([
    { call: 'organization' },
    { call: 'updates', cursor: 'start', limit: expect.stringMatching(/^[1-9]\d+$/) },
    { call: 'categories' },
  ]);
  expect(await mirrored()).toEqual(['One', 'Two']);
});

test('POST and GET on the sync return the same state', async () => {
  const { age_seconds: _, ...posted } = await sync();
  expect((await world.asViewer.get(SYNC)).body).toMatchObject(posted);
});

test('the sync sends the API key to the hub with each call, and the state does not contain it', async () => {
  const state = await sync();
  expect(new Set(hub.requests.map(({ authorization }) => authorization))).toEqual(new Set([`Bearer ${hub.key}`]));
  expect(JSON.stringify(state)).not.toContain(hub.key);
});

test('the mirror contains every member of a template as the hub sent it', async () => {
  const template = aTemplate({ ...templateExamples, slug: 'whole' });
  hub.publish(template);
  await sync();
  expect((await world.asViewer.get('/api/v1/catalog/templates/whole')).body).toEqual({
    ...template,
    stale: false,
    trust: null,
  });
});

test('after the first sync the fleet requests only changes since the last response', async () => {
  const kept = aTemplate({ name: 'Kept' });
  const changed = aTemplate({ name: 'Old' });
  hub.publish(kept, changed);
  await sync();
  const [{ cursor } = { cursor: '' }] = await world.database.client.catalogSync.findMany();
  hub.publish({ ...changed, name: 'New' });
  expect(await sync()).toMatchObject({
    checked_at: hub.checkedAt(),
    last_sync: { full: false, updated: 1, removed: 0 },
    counts: { templates: 2 },
  });
  expect(hub.cursors()).toEqual(['start', cursor]);
  expect(await mirrored()).toEqual(['Kept', 'New']);
});

test('if nothing changed, a sync receives no templates and does not request the categories', async () => {
  hub.publish(aTemplate());
  const { checked_at } = await sync();
  hub.requests.splice(0);
  expect(await sync()).toMatchObject({
    checked_at,
    last_sync: { full: false, updated: 0, removed: 0 },
    counts: { templates: 1 },
  });
  expect(hub.requests.map(({ call }) => call)).toEqual(['organization', 'updates']);
});

test('a sync removes templates that the hub withdrew', async () => {
  const kept = aTemplate({ name: 'Kept' });
  const gone = aTemplate({ name: 'Gone' });
  hub.publish(kept, gone);
  await sync();
  hub.withdraw(gone);
  expect(await sync()).toMatchObject({ last_sync: { full: false, updated: 0, removed: 1 }, counts: { templates: 1 } });
  expect(await mirrored()).toEqual(['Kept']);
});

test('a sync restores a template that was withdrawn and shown again', async () => {
  const template = aTemplate({ name: 'Back' });
  hub.publish(template);
  await sync();
  hub.withdraw(template);
  await sync();
  hub.publish(template);
  await sync();
  expect(await mirrored()).toEqual(['Back']);
});

test('a sync stores a change with an older updated_at', async () => {
  const template = aTemplate({ name: 'Now' });
  hub.publish(template);
  await sync();
  hub.publish({ ...template, name: 'Restored', updated_at: '2020-01-01T00:00:00.000Z' });
  await sync();
  expect(await mirrored()).toEqual(['Restored']);
});

test('a sync fetches more templates than fit in a page', async () => {
  hub.publish(...Array.from({ length: 1203 }, (_, index) => aTemplate({ name: `Many ${index}` })));
  expect(await sync()).toMatchObject({ last_sync: { updated: 1203 }, counts: { templates: 1203 } });
  expect(hub.cursors().length).toBeGreaterThan(1);
});

test.each([{ fully: true }, { full: 'yes' }, { full: null }, []])(
  'a sync with the body %j is rejected',
  async (body) => {
    const answer = await world.asOperator.post(SYNC, body);
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
    expect(hub.requests).toEqual([]);
  },
);

const bearer = async (role: 'viewer' | 'operator') => `Bearer ${(await world.aToken({ role })).secret}`;

describe('without a configured hub', () => {
  test('the sync state is not_configured', async () => {
    const without = world.aReplica();
    expect((await without.api(await bearer('viewer')).get(SYNC)).body).toMatchObject({
      status: 'not_configured',
      hub_url: null,
    });
  });

  test('a sync is rejected, and the message names the settings', async () => {
    const without = world.aReplica();
    const { status, body } = await without.api(await bearer('operator')).post(SYNC);
    expect({ status, code: body.code }).toEqual({ status: 409, code: 'hub_not_configured' });
    expect(body.detail).toBe('No hub is configured: set HUB_URL and HUB_API_KEY, or PUT /api/v1/settings/hub.');
  });

  test('the mirror is still served', async () => {
    hub.publish(aTemplate({ name: 'Kept' }));
    await world.sync.run();
    const { body } = await world
      .aReplica()
      .api(await bearer('viewer'))
      .get(TEMPLATES);
    expect(body.templates).toHaveLength(1);
  });
});

describe('with another hub or key, the sync', () => {
  test.each([
    ['hub', () => startFakeHub(hub.key)],
    ['key', () => startFakeHub()],
  ])('makes a full walk for another %s, and removes what it does not list', async (_, start) => {
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

describe('in the sync state', () => {
  beforeEach(async () => {
    hub.publish(aTemplate());
    await world.sync.run();
  });

  const organization = async () => (await world.asViewer.get(SYNC)).body.organization;

  test('the organization of the key is that of the hub, with its tier', async () => {
    expect(await organization()).toEqual(hub.organization());
  });

  test('another tier is shown after the next sync, even if nothing else changed', async () => {
    hub.changeOrganization({ tier: 'enterprise' });
    expect((await world.asOperator.post(SYNC)).body).toMatchObject({
      last_sync: { updated: 0, removed: 0 },
      organization: { tier: 'enterprise' },
    });
    expect(await organization()).toEqual(hub.organization());
  });

  test('the organization is kept while the hub is unreachable, also by a fleet that starts meanwhile', async () => {
    const known = await organization();
    await hub.stopListening();
    expect((await world.asOperator.post(SYNC)).status).toBe(502);
    expect(await organization()).toEqual(known);
    const token = await world.aToken({ role: 'viewer' });
    const other = world.aReplica({ hub }).api(`Bearer ${token.secret}`);
    expect((await other.get(SYNC)).body.organization).toEqual(known);
    await hub.startListening();
  });

  test('the organization is kept, like the mirror, while it is suspended; then the sync continues from its cursor', async () => {
    const known = await organization();
    for (const call of ['organization', 'updates', 'categories'] as const) {
      hub.behave(refuse('organization_suspended'), call);
    }
    const refused = await world.asOperator.post(SYNC);
    expect(refused).toMatchObject({ status: 502, body: { detail: expect.stringContaining('suspended') } });
    expect((await world.asViewer.get(SYNC)).body).toMatchObject({ organization: known, counts: { templates: 1 } });
    hub.recover();
    hub.publish(aTemplate());
    expect((await world.asOperator.post(SYNC)).body).toMatchObject({ last_sync: { full: false, updated: 1 } });
  });

  test('an unknown tier is shown as it is', async () => {
    hub.changeOrganization({ tier: 'galactic' });
    await world.sync.run();
    expect(await organization()).toMatchObject({ tier: 'galactic' });
  });
});

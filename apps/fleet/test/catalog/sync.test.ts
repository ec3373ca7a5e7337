import { templateExamples } from '@svc/contract';
import { aTemplate } from '../a-template.ts';
import { aCategory } from '../fake-hub.ts';
import { startSyncWorld } from './sync-world.ts';

const SYNC = '/api/v1/catalog/sync';

const { hub, world } = await startSyncWorld();

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
    next_try_at: null,
    last_sync: null,
    counts: { templates: 0, categories: 0 },
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
    counts: { templates: 2, categories: 1 },
    organization: hub.organization(),
  });
  expect(hub.requests).toMatchObject([
    { call: 'organization' },
    { call: 'updates', cursor: 'start', limit: expect.stringMatching(/^[1-9]\d+$/) },
    { call: 'categories' },
  ]);
  expect(await mirrored()).toEqual(['One', 'Two']);
});

test('POST and GET tell the same state', async () => {
  const { age_seconds: _, ...posted } = await sync();
  expect((await world.asViewer.get(SYNC)).body).toMatchObject(posted);
});

test('the key goes to the hub with each call, and the state does not show it', async () => {
  const state = await sync();
  expect(new Set(hub.requests.map(({ authorization }) => authorization))).toEqual(new Set([`Bearer ${hub.key}`]));
  expect(JSON.stringify(state)).not.toContain(hub.key);
});

test('the mirror shows every member of a template as the hub sent it', async () => {
  const template = aTemplate({ ...templateExamples, slug: 'whole' });
  hub.publish(template);
  await sync();
  expect((await world.asViewer.get('/api/v1/catalog/templates/whole')).body).toEqual(template);
});

test('after the first sync only what changed travels, from where the last answer ended', async () => {
  const [kept, changed] = [aTemplate({ name: 'Kept' }), aTemplate({ name: 'Old' })];
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

test('when nothing changed nothing travels, and the categories are not asked for', async () => {
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

test('more templates than a page holds come over whole', async () => {
  hub.publish(...Array.from({ length: 1203 }, (_, index) => aTemplate({ name: `Many ${index}` })));
  expect(await sync()).toMatchObject({ last_sync: { updated: 1203 }, counts: { templates: 1203 } });
  expect(hub.cursors().length).toBeGreaterThan(1);
});

test.each([{ fully: true }, { full: 'yes' }, { full: null }, []])('the body %j is refused', async (body) => {
  const answer = await world.asOperator.post(SYNC, body);
  expect([answer.status, answer.body.code]).toEqual([400, 'validation_failed']);
  expect(hub.requests).toEqual([]);
});

import { randomUUID } from 'node:crypto';
import { aTemplate } from '../a-template.ts';
import { aCategory, answerWell, type Behaviour, fromCall, refuse } from '../fake-hub.ts';
import { startSyncWorld } from './sync-world.ts';

const SYNC = '/api/v1/catalog/sync';
const TEMPLATES = '/api/v1/catalog/templates';

const { hub, world, mirror } = await startSyncWorld({ pageSize: 2 });

const sync = (body = {}) => world.asOperator.post(SYNC, body);
const listed = async (): Promise<string[]> =>
  (await world.asViewer.get(TEMPLATES)).body.templates.map(({ name }: { name: string }) => name);

test('{full: true} repairs a damaged mirror', async () => {
  hub.publish(...['a', 'b', 'c'].map((name) => aTemplate({ name })));
  hub.setCategories(aCategory());
  await sync();
  const { client } = world.database;
  await client.catalogTemplate.deleteMany({ where: { sort_name: 'a' } });
  await client.catalogTemplate.updateMany({ where: { sort_name: 'b' }, data: { document: {} } });
  await client.catalogCategory.deleteMany();
  expect((await sync({ full: true })).body).toMatchObject({ last_sync: { full: true, updated: 3, removed: 0 } });
  await mirror.expectLike(hub);
});

test('{full: true} removes what the hub does not list', async () => {
  const vanishing = aTemplate({ name: 'Vanishing' });
  hub.publish(aTemplate({ name: 'Kept' }));
  const backup = hub.now();
  hub.publish(vanishing);
  await sync();
  hub.restore(backup);
  expect((await sync({ full: true })).body).toMatchObject({ last_sync: { full: true, updated: 1, removed: 1 } });
  expect(await listed()).toEqual(['Kept']);
});

test('{full: false} is an incremental sync', async () => {
  await sync();
  expect((await sync({ full: false })).body).toMatchObject({ last_sync: { full: false } });
});

test('{full: true} during a running sync makes the next one full, for all callers that wait for it', async () => {
  await sync();
  const running = world.sync.run();
  await Promise.all([world.sync.run(), world.sync.run({ full: true }), world.sync.run(), running]);
  expect(hub.cursors().map((cursor) => cursor === 'start')).toEqual([true, false, true]);
});

test('during a full walk the mirror serves all former templates, until the last page removes those that were not listed', async () => {
  const templates = Array.from({ length: 6 }, (_, index) => aTemplate({ name: `Kept ${index}` }));
  hub.publish(...templates);
  const backup = hub.now();
  hub.publish(aTemplate({ name: 'Vanishing' }));
  await sync();
  hub.restore(backup);
  hub.publish(...templates.slice(3));
  const seen: string[][] = [];
  const look: Behaviour = async (exchange) => {
    seen.push(await listed());
    await answerWell(exchange);
  };
  hub.behave(look);
  hub.behave(look, 'categories');
  await sync();
  const kept = templates.map(({ name }) => name);
  expect(seen).toEqual(Array(4).fill([...kept, 'Vanishing']));
  expect(await listed()).toEqual(kept);
});

test('a full walk that is restarted in the middle removes nothing before its own end', async () => {
  const templates = Array.from({ length: 4 }, (_, index) => aTemplate({ name: `Kept ${index}` }));
  hub.publish(...templates);
  await sync();
  hub.behave(fromCall(2, refuse('unavailable')));
  await sync({ full: true });
  expect(await listed()).toHaveLength(4);
  hub.behave(fromCall(2, refuse('unavailable')));
  await sync({ full: true });
  expect(await listed()).toHaveLength(4);
  hub.recover();
  await sync();
  await mirror.expectLike(hub);
});

describe('a hub that was restored from a backup', () => {
  test('gets a full walk, and the mirror returns to the state of the backup', async () => {
    const old = aTemplate({ name: 'Old' });
    hub.publish(old);
    hub.setCategories(aCategory({ name: 'Old' }));
    const backup = hub.now();
    await sync();
    hub.publish({ ...old, name: 'New' }, aTemplate({ name: 'Lost' }));
    hub.setCategories(aCategory({ name: 'Lost' }));
    await sync();
    hub.restore(backup);
    const { body } = await sync();
    expect(body).toMatchObject({ status: 'fresh', checked_at: hub.checkedAt(), last_sync: { full: true, removed: 1 } });
    expect(await listed()).toEqual(['Old']);
    await mirror.expectLike(hub);
  });

  test('and was written to up to the stored stamp of the fleet is still recognized as restored', async () => {
    hub.publish(aTemplate({ name: 'Old' }));
    const backup = hub.now();
    hub.publish(aTemplate({ name: 'Lost' }));
    const { body: before } = await sync();
    hub.restore(backup);
    hub.publish(aTemplate({ name: 'Written instead' }));
    const { body } = await sync();
    expect(body).toMatchObject({ checked_at: before.checked_at, last_sync: { full: true } });
    await mirror.expectLike(hub);
  });
});

test('a key of another organization causes a full walk', async () => {
  hub.publish(aTemplate({ name: 'Of the first' }));
  const nothing = hub.now();
  await sync();
  hub.restore({ ...nothing, shown: new Map() });
  hub.publish(aTemplate({ name: 'Of the second' }));
  hub.changeOrganization({ id: randomUUID(), name: 'Other' });
  expect((await sync()).body).toMatchObject({ last_sync: { full: true }, organization: { name: 'Other' } });
  await mirror.expectLike(hub);
});

describe('a 400 to a cursor', () => {
  test.each([0, 1])(
    'after %d good pages discards the cursor, keeps the mirror, and makes the next sync a full walk',
    async (good) => {
      const templates = Array.from({ length: 5 }, (_, index) => aTemplate({ name: `Template ${index}` }));
      hub.publish(...templates);
      const { checked_at } = (await sync()).body;
      hub.publish(...templates.map((template) => ({ ...template, name: `${template.name}, changed` })));
      hub.behave(fromCall(good + 1, refuse('validation_failed')));
      const refused = await sync();
      expect(refused).toMatchObject({ status: 502, body: { detail: expect.stringContaining('400') } });
      expect((await world.asViewer.get(SYNC)).body).toMatchObject({ status: 'stale', checked_at });
      expect(await listed()).toHaveLength(5);
      hub.recover();
      expect((await sync()).body).toMatchObject({ status: 'fresh', last_sync: { full: true } });
      expect(hub.cursors().filter((cursor) => cursor === 'start')).toHaveLength(2);
      await mirror.expectLike(hub);
    },
  );

  test('or to a request without a cursor changes nothing', async () => {
    hub.publish(aTemplate({ name: 'Kept' }));
    await sync();
    const before = await mirror.rows();
    hub.behave(refuse('validation_failed'));
    expect((await sync({ full: true })).status).toBe(502);
    expect(await mirror.rows()).toEqual(before);
  });
});

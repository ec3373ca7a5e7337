import request from 'supertest';
import { aTemplate } from '../a-template.ts';
import { aCategory, closeConnection, refuse, send, sendChanged } from '../fake-hub.ts';
import { startSyncWorld } from './sync-world.ts';

const { hub, world } = await startSyncWorld();

async function metricsOfCatalog(): Promise<[name: string, value: number][]> {
  const { text } = await request(world.aReplica({ hub }).app).get('/metrics');
  const lines = text.split('\n').filter((line) => line.startsWith('catalog_'));
  return lines.map((line) => line.split(' ')).map(([name = '', value]) => [name, Number(value)]);
}

const isCounter = ([name]: [string, number]) => name.includes('_total');

/** The state of the catalog as a replica that never synced reports it. */
const figures = async () => Object.fromEntries((await metricsOfCatalog()).filter((metric) => !isCounter(metric)));
/** The counters of this process, which all its replicas share. */
const counters = async () => Object.fromEntries((await metricsOfCatalog()).filter(isCounter));

const fail = async () => {
  await expect(world.sync.run()).rejects.toMatchObject({ code: 'hub_unreachable' });
};
const inSeconds = (at: Date | null | undefined) => (at?.getTime() ?? Number.NaN) / 1000;

const nothingSkipped = { 'catalog_sync_skipped{kind="template"}': 0, 'catalog_sync_skipped{kind="category"}': 0 };

test('the metrics count the templates and categories that were skipped', async () => {
  hub.publish({ ...aTemplate(), name: '\0' }, { ...aTemplate(), id: 'none' }, aTemplate());
  hub.setCategories({ ...aCategory(), name: '\0' });
  await world.sync.run();
  expect(await figures()).toMatchObject({
    catalog_mirror_templates: 1,
    'catalog_sync_skipped{kind="template"}': 2,
    'catalog_sync_skipped{kind="category"}': 1,
    catalog_sync_stale: 0,
  });
});

test('before the first sync the metrics contain no timestamps of syncs', async () => {
  expect(await figures()).toEqual({
    catalog_mirror_templates: 0,
    ...nothingSkipped,
    catalog_sync_failures: 0,
    catalog_sync_stale: 0,
  });
});

test('after a successful sync the metrics are those of the stored state, on every replica', async () => {
  hub.publish(aTemplate(), aTemplate());
  await world.sync.run();
  const { last_success_at } = await world.database.client.catalogSync.findFirstOrThrow();
  expect(await figures()).toEqual({
    catalog_mirror_templates: 2,
    ...nothingSkipped,
    catalog_sync_age_seconds: expect.any(Number),
    catalog_sync_last_success_timestamp_seconds: inSeconds(last_success_at),
    catalog_sync_failures: 0,
    catalog_sync_stale: 0,
  });
});

test('the process counts its syncs by their outcome, and the pages that it stored', async () => {
  await world.sync.run();
  const before = await counters();
  await world.sync.run();
  hub.behave(closeConnection);
  await fail();
  const increases = Object.entries(await counters()).map(([name, value]) => [name, value - (before[name] ?? 0)]);
  expect(Object.fromEntries(increases)).toMatchObject({
    catalog_sync_pages_total: 1,
    'catalog_sync_runs_total{outcome="success"}': 1,
    'catalog_sync_runs_total{outcome="unreachable"}': 1,
  });
  hub.recover();
});

test('the metric of the age counts from the last successful sync', async () => {
  await world.sync.run();
  await world.database.client.$executeRaw`UPDATE catalog_sync SET last_success_at = now() - interval '1 hour'`;
  await hub.stopListening();
  await fail();
  const { catalog_sync_age_seconds } = await figures();
  expect(catalog_sync_age_seconds).toBeGreaterThanOrEqual(3600);
  await hub.startListening();
});

test.each([
  ['unreachable', closeConnection],
  ['refused', refuse('internal', 'a-slip-of-the-hub')],
  ['unreadable', send(200, 'text/html', '<p>a-slip-of-the-hub')],
])('the metrics report the kind of a failure, one of a fixed set: %s', async (kind, how) => {
  hub.behave(refuse('rate_limited'));
  await fail();
  hub.behave(how);
  await fail();
  const { last_failure_at } = await world.database.client.catalogSync.findFirstOrThrow();
  const told = await figures();
  expect(told).toMatchObject({
    catalog_sync_stale: 1,
    catalog_sync_failures: 2,
    [`catalog_sync_last_failure_timestamp_seconds{kind="${kind}"}`]: inSeconds(last_failure_at),
  });
  expect(Object.keys(told).filter((name) => name.includes('last_failure'))).toHaveLength(1);
});

test('the metrics have separate kinds for an empty catalog and a page that cannot be stored', async () => {
  const empty = hub.now();
  hub.behave(sendChanged((good) => ({ ...good, cursor: '\0' })));
  await fail();
  expect(Object.keys(await figures())).toContain('catalog_sync_last_failure_timestamp_seconds{kind="not_stored"}');
  hub.recover();
  hub.publish(aTemplate());
  await world.sync.run();
  hub.restore(empty);
  await fail();
  expect(Object.keys(await figures())).toContain('catalog_sync_last_failure_timestamp_seconds{kind="empty"}');
});

test('after a successful sync the metrics still report the last failure, and are no longer stale', async () => {
  hub.behave(closeConnection);
  await fail();
  hub.recover();
  await world.sync.run();
  expect(await figures()).toMatchObject({
    catalog_sync_stale: 0,
    catalog_sync_failures: 0,
    'catalog_sync_last_failure_timestamp_seconds{kind="unreachable"}': expect.any(Number),
  });
});

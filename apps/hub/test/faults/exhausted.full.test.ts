import { eventually, figure } from '@svc/testing';
import { ask, holding, type LoadResult, startLoad, statusesOf, summaryOf } from '@svc/testing/faults';
import { aListeningHub } from '../listening-hub.ts';
import { startWorld } from '../world.ts';
import { openLedger } from './ledger.ts';

/** Shorter than in production, so that the tests wait less. */
const limits = { connectTimeoutMs: 1000, lockTimeoutMs: 1000 };
/** More than the number of connections in the pool for readers. */
const MORE_THAN_POOL_SIZE = 25;
const HALF_THE_LOAD = 14;

const world = await startWorld();
const hub = await aListeningHub(world.databaseUrl, world.issuer, limits);
afterAll(async () => {
  await hub.stop();
  await world.stop();
});

// Recently used, so a request does not update the row.
const recentlyUsed = { last_used_at: new Date(Date.now() + 3_600_000) };
const key = `Bearer ${(await world.anOrganization({}, recentlyUsed)).key}`;
const admin = await world.anAuthorization('admin');
const ledger = openLedger({ url: () => hub.url, admin, categoryId: (await world.aCategory()).id });

const list = () => ask(`${hub.url}/api/v1/catalog/templates`);
const keyed = () => ask(`${hub.url}/api/v1/catalog/templates`, { authorization: key });
const ownOrganization = () => ask(`${hub.url}/api/v1/catalog/organization`, { authorization: key });
const times = (count: number, work: () => Promise<LoadResult>) => Promise.all(Array.from({ length: count }, work));

const LOCKED_CATALOG = 'LOCK TABLE templates IN ACCESS EXCLUSIVE MODE';
const STUCK_WRITER = 'UPDATE catalog_clock SET at = at + interval $$1 millisecond$$';

test('answers 503 to catalog reads while the catalog is locked, and serves other requests', async () => {
  const { stuck, others } = await holding(world.databaseUrl, LOCKED_CATALOG, async () => {
    const waiting = times(3, list);
    const others = [await ownOrganization(), await ownOrganization()];
    return { others, stuck: await waiting };
  });
  expect(statusesOf(others)).toEqual([200]);
  expect(stuck).toMatchObject(Array(3).fill({ status: 503, retryAfter: '1' }));
});

test('answers 503 while all connections are in use, and serves requests when connections are free again', async () => {
  const load = startLoad([...Array(HALF_THE_LOAD).fill(list), ...Array(HALF_THE_LOAD).fill(keyed)]);
  try {
    await holding(world.databaseUrl, LOCKED_CATALOG, () =>
      eventually('every client is refused', async () =>
        load.lanes.every((lane) => lane.some(({ status }) => status === 503)),
      ),
    );
    await eventually('lists work again', async () => (await list()).status === 200);
  } finally {
    await load.stop();
  }
  figure(`pool exhausted: ${summaryOf(load.seen)}`);
  expect(statusesOf(load.seen)).toEqual([200, 503]);
  expect(statusesOf(await times(MORE_THAN_POOL_SIZE, list))).toEqual([200]);
});

test('answers 503 to catalog writes while another one does not end, and serves reads', async () => {
  const writes = ['a', 'b', 'c', 'd'].map((name) => ledger.writer(name));
  const { written, read } = await holding(world.databaseUrl, STUCK_WRITER, async () => {
    const writing = Promise.all(writes.map((write) => write()));
    const read = await times(MORE_THAN_POOL_SIZE, list);
    return { read, written: await writing };
  });
  figure(`stuck catalog write: ${summaryOf(written)}`);
  expect(statusesOf(read)).toEqual([200]);
  expect(statusesOf(written)).toEqual([503]);
  expect(statusesOf(await Promise.all(writes.map((write) => write())))).toEqual([201]);
  expect(await ledger.lost()).toEqual([]);
});

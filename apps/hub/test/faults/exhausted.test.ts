import { figure } from '@svc/testing';
import { ask, eventually, holding, type Seen, startLoad, statusesOf, summaryOf } from '@svc/testing/faults';
import { aListeningHub } from '../listening-hub.ts';
import { startWorld } from '../world.ts';
import { openLedger } from './ledger.ts';

/** Short, so that the tests wait less. */
const limits = { connectTimeoutMs: 300, lockTimeoutMs: 600 };
/** More than the pool of the readers has connections. */
const MORE_THAN_THE_POOL = 25;
const HALF_THE_LOAD = 14;

const world = await startWorld();
const hub = await aListeningHub(world.databaseUrl, world.issuer, limits);
afterAll(async () => {
  await hub.stop();
  await world.stop();
});

const used = { last_used_at: new Date(Date.now() + 3_600_000) }; // as if just used: using the key writes nothing
const key = `Bearer ${(await world.anOrganization({}, used)).key}`;
const admin = await world.anAuthorization('admin');
const ledger = openLedger({ url: () => hub.url, admin, categoryId: (await world.aCategory()).id });

const list = () => ask(`${hub.url}/api/v1/catalog/templates`);
const keyed = () => ask(`${hub.url}/api/v1/catalog/templates`, { authorization: key });
const ownOrganization = () => ask(`${hub.url}/api/v1/catalog/organization`, { authorization: key });
const times = (count: number, work: () => Promise<Seen>) => Promise.all(Array.from({ length: count }, work));

const LOCKED_CATALOG = 'LOCK TABLE templates IN ACCESS EXCLUSIVE MODE';
const STUCK_WRITER = 'UPDATE catalog_clock SET at = at + interval $$1 millisecond$$';

test('while the catalog is locked its readers are answered 503, and other requests succeed', async () => {
  const { stuck, others } = await holding(world.databaseUrl, LOCKED_CATALOG, async () => {
    const waiting = times(3, list);
    const others = [await ownOrganization(), await ownOrganization()];
    return { others, stuck: await waiting };
  });
  expect(statusesOf(others)).toEqual([200]);
  expect(stuck.map(({ status, retryAfter }) => [status, retryAfter])).toEqual(Array(3).fill([503, '1']));
});

test('while every connection is in use requests are answered 503, and succeed when connections are free again', async () => {
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
  expect(statusesOf(await times(MORE_THAN_THE_POOL, list))).toEqual([200]);
});

test('while a catalog write does not end other writes are answered 503, and readers are served', async () => {
  const writes = ['a', 'b', 'c', 'd'].map((name) => ledger.writer(name));
  const { written, read } = await holding(world.databaseUrl, STUCK_WRITER, async () => {
    const writing = Promise.all(writes.map((write) => write()));
    const read = await times(MORE_THAN_THE_POOL, list);
    return { read, written: await writing };
  });
  figure(`stuck catalog write: ${summaryOf(written)}`);
  expect(statusesOf(read)).toEqual([200]);
  expect(statusesOf(written)).toEqual([503]);
  expect(statusesOf(await Promise.all(writes.map((write) => write())))).toEqual([201]);
  expect(await ledger.lost()).toEqual([]);
});

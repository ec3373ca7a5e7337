import { setTimeout as wait } from 'node:timers/promises';
import { figure } from '@svc/testing';
import {
  ask,
  eventually,
  holding,
  type RunningService,
  type Seen,
  startLoad,
  statusesOf,
  summaryOf,
} from '@svc/testing/faults';
import { createApiKey, createOrganization } from '../../src/commands/organizations.ts';
import { openDatabase } from '../../src/database/client.ts';
import { openLedger } from './ledger.ts';
import { adminOf, makeCategory, prepareHubFaults } from './world.ts';

const { aDatabase, anIssuer, aHub } = prepareHubFaults();
/** More than the pool of the readers has connections. */
const MORE_THAN_THE_POOL = 25;
const HALF_THE_LOAD = 14;
const EXHAUSTED_MS = 6000;

let hub: RunningService;
let databaseUrl: string;
let admin: string;
let key: string;
let ledger: ReturnType<typeof openLedger>;

beforeAll(async () => {
  const issuer = await anIssuer();
  databaseUrl = await aDatabase();
  hub = await aHub({ databaseUrl, issuer: issuer.issuer });
  admin = await adminOf(issuer);
  ledger = openLedger({ url: () => hub.url, admin, categoryId: await makeCategory(hub, admin) });
  const database = openDatabase(databaseUrl, () => undefined);
  await createOrganization({ name: 'Acme', slug: 'acme' })(database);
  key = `Bearer ${(await createApiKey({ organization: 'acme', name: 'key' })(database)).key}`;
  await database.close();
});

const list = () => ask(`${hub.url}/api/v1/catalog/templates`);
const ownOrganization = () => ask(`${hub.url}/api/v1/catalog/organization`, { authorization: key });
const times = (count: number, work: () => Promise<Seen>) => Promise.all(Array.from({ length: count }, work));

const LOCKED_CATALOG = 'LOCK TABLE templates IN ACCESS EXCLUSIVE MODE';
const STUCK_WRITER = 'UPDATE catalog_clock SET at = at + interval $$1 millisecond$$';

test('while the catalog is locked its readers hear 503, and who reads something else is served', async () => {
  const { stuck, others } = await holding(databaseUrl, LOCKED_CATALOG, async () => {
    const waiting = times(3, list);
    const others = [await ownOrganization(), await ask(`${hub.url}/readyz`)];
    return { others, stuck: await waiting };
  });
  expect(statusesOf(others)).toEqual([200]);
  expect(stuck.map(({ status, retryAfter }) => [status, retryAfter])).toEqual(Array(3).fill([503, '1']));
});

test('with every connection busy each request hears 503, and all works when they are free again', async () => {
  const keyed = () => ask(`${hub.url}/api/v1/catalog/templates`, { authorization: key });
  const load = startLoad([...Array(HALF_THE_LOAD).fill(list), ...Array(HALF_THE_LOAD).fill(keyed)]);
  try {
    await holding(databaseUrl, LOCKED_CATALOG, () => wait(EXHAUSTED_MS));
    await eventually('lists work again', async () => (await list()).status === 200);
  } finally {
    await load.stop();
  }
  figure(`pool exhausted for ${EXHAUSTED_MS} ms: ${summaryOf(load.seen)}`);
  expect(statusesOf(load.seen)).toEqual([200, 503]);
  expect(statusesOf(await times(MORE_THAN_THE_POOL, list))).toEqual([200]);
});

test('behind a catalog writer that does not finish writers hear 503, and readers are served', async () => {
  const writes = ['a', 'b', 'c', 'd'].map((name) => ledger.writer(name));
  const { written, read } = await holding(databaseUrl, STUCK_WRITER, async () => {
    const writing = Promise.all(writes.map((write) => write()));
    const read = await times(MORE_THAN_THE_POOL, list);
    return { read, written: await writing };
  });
  figure(`stuck catalog writer: ${summaryOf(written)}`);
  expect(statusesOf(read)).toEqual([200]);
  expect(statusesOf(written)).toEqual([503]);
  expect(statusesOf(await Promise.all(writes.map((write) => write())))).toEqual([201]);
  expect(await ledger.lost()).toEqual([]);
});

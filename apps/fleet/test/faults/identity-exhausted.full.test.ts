import { eventually, figure } from '@svc/testing';
import { ask, holding, queryOn, type RunningService, startLoad, statusesOf, summaryOf } from '@svc/testing/faults';
import { openLedger } from './identity-ledger.ts';
import { anAdminToken, prepareFleetFaults } from './identity-world.ts';

const { aDatabase, aFleet } = prepareFleetFaults();
/** More clients than the pool has connections. */
const MORE_THAN_THE_POOL = 25;

let databaseUrl: string;
let fleet: RunningService;
let ledger: ReturnType<typeof openLedger>;

beforeAll(async () => {
  databaseUrl = await aDatabase();
  fleet = await aFleet({ databaseUrl });
  ledger = openLedger({ url: () => fleet.url, secret: await anAdminToken(databaseUrl) });
});

const LOCKED_HOSTS = 'LOCK TABLE hosts IN ACCESS EXCLUSIVE MODE';
const hosts = () => ledger.reader('/api/v1/hosts')();

test('while a table is locked, requests that read it get 503, and other requests are served', async () => {
  const { stuck } = await holding(databaseUrl, LOCKED_HOSTS, async () => {
    const waiting = Promise.all([hosts(), hosts(), hosts()]);
    // On a busy machine, a request can wait too long for a connection.
    const isServed = { until: ({ status }: { readonly status: number }) => status === 200 };
    await eventually('the tokens are listed', ledger.reader('/api/v1/tokens'), isServed);
    await eventually('the fleet is ready', () => ask(`${fleet.url}/readyz`), isServed);
    return { stuck: await waiting };
  });
  expect(stuck.map(({ status, retryAfter }) => [status, retryAfter])).toEqual(Array(3).fill([503, '1']));
});

test('while all connections are busy, requests get 503, and they are served afterwards', async () => {
  const refused = new Set<number>();
  const lanes = Array.from({ length: MORE_THAN_THE_POOL }, (_, lane) => async () => {
    const seen = await hosts();
    if (seen.status === 503) refused.add(lane);
    return seen;
  });
  const load = startLoad(lanes);
  try {
    await holding(databaseUrl, LOCKED_HOSTS, () =>
      eventually('each client has received 503', async () => refused.size === MORE_THAN_THE_POOL),
    );
    await eventually('lists are served again', async () => (await hosts()).status === 200);
  } finally {
    await load.stop();
  }
  figure(`pool exhausted: ${summaryOf(load.seen)}`);
  expect(statusesOf(load.seen)).toEqual([200, 503]);
  expect(statusesOf(await Promise.all(Array.from({ length: MORE_THAN_THE_POOL }, hosts)))).toEqual([200]);
  expect(await ledger.misrecorded(queryOn(databaseUrl))).toEqual([]);
});

test('while the audit log is locked, changes get 503 and have no effect, and reads are served', async () => {
  const writers = Array.from({ length: 5 }, (_, index) => ledger.writer(`locked out ${index}`));
  const { written, read } = await holding(databaseUrl, 'LOCK TABLE audit_entries IN EXCLUSIVE MODE', async () => {
    const writing = Promise.all(writers.map((write) => write()));
    return { read: await ask(`${fleet.url}/api/v1/auth/config`), written: await writing };
  });
  expect(read.status).toBe(200);
  expect(statusesOf(written)).toEqual([503]);
  const made = await queryOn(databaseUrl)(`SELECT FROM tokens WHERE name LIKE 'locked out%'`);
  expect(made).toEqual([]);
  expect(statusesOf(await Promise.all(writers.map((write) => write())))).toEqual([201]);
});

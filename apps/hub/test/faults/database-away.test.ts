// FAULT_FIGURES=1 prints what was measured.
import { setTimeout as wait } from 'node:timers/promises';
import { poolOptions } from '@svc/database';
import { poolLimits } from '../../src/database/client.ts';
import { eventually } from './eventually.ts';
import { openLedger } from './ledger.ts';
import { ask, type Seen, startLoad, statusesOf, summaryOf } from './load.ts';
import type { OwnPostgres } from './own-postgres.ts';
import { adminOf, figure, makeCategory, prepareFaults, type RunningHub } from './world.ts';

const { aFolder, aPostgres, anIssuer, aHub } = prepareFaults();
/** The processes of PostgreSQL are found in /proc. */
const onLinux = process.platform === 'linux' ? test : test.skip;
const AWAY_MS = 2000;
const FROZEN_MS = 6000;
/** So many are acknowledged before the fault. */
const SOME_WRITES = 30;
const ANSWERED_WITHIN_MS = 5000;

let postgres: OwnPostgres;
let hub: RunningHub;
let admin: string;
let ledger: ReturnType<typeof openLedger>;

beforeAll(async () => {
  const issuer = await anIssuer();
  postgres = await aPostgres(aFolder());
  hub = await aHub({ databaseUrl: postgres.databaseUrl, issuer: issuer.issuer });
  admin = await adminOf(issuer);
  ledger = openLedger({ url: () => hub.url, admin, categoryId: await makeCategory(hub, admin) });
}, 60_000);

/** What readers and writers of every kind see while that happens, until the hub works again. */
async function seenWhile(fault: string, happens: () => Promise<void>): Promise<readonly Seen[]> {
  const get = (path: string, authorization?: string) => () =>
    ask(`${hub.url}${path}`, authorization === undefined ? {} : { authorization });
  const load = startLoad([
    get('/api/v1/catalog/templates'),
    get('/api/v1/catalog/templates/updates?since=1970-01-01T00:00:00Z'),
    get('/api/v1/catalog/categories', admin),
    get('/api/v1/admin/templates', admin),
    get('/readyz'),
    ...['a', 'b', 'c'].map((name) => ledger.writer(`${fault}-${name}`)),
  ]);
  try {
    const before = ledger.acknowledged();
    await eventually('writes are acknowledged', async () => ledger.acknowledged() >= before + SOME_WRITES);
    await happens();
    const back = performance.now();
    await eventually('the hub works again', works);
    figure(`PostgreSQL ${fault}: works again after ${Math.round(performance.now() - back)} ms`);
  } finally {
    await load.stop();
  }
  figure(`PostgreSQL ${fault}: ${summaryOf(load.seen)}; ${ledger.acknowledged()} writes acknowledged`);
  return load.seen;
}

const works = async () => {
  const write = await ledger.writer(`after-${performance.now().toFixed(0)}`)();
  const read = await ask(`${hub.url}/readyz`);
  return write.status === 201 && read.status === 200;
};

/** Nothing but success or "not now", with a word on when to try again. */
function expectOnlyUnavailable(seen: readonly Seen[]): void {
  expect(statusesOf(seen)).toEqual([200, 201, 503]);
  const refusals = seen.filter(({ status, body }) => status === 503 && 'code' in body); // readiness has its own form
  expect(refusals).not.toEqual([]);
  for (const { retryAfter, body } of refusals) {
    expect({ retryAfter, code: body.code }).toEqual({ retryAfter: '1', code: 'unavailable' });
  }
}

onLinux(
  'while PostgreSQL is killed and away every answer is a 503; when it is back the same process works, and nothing is lost',
  async () => {
    const seen = await seenWhile('killed', async () => {
      await postgres.kill();
      await wait(AWAY_MS);
      await postgres.restart();
    });
    expectOnlyUnavailable(seen);
    expect(hub.child.exitCode).toBeNull();
    expect(await ledger.lost()).toEqual([]);
  },
  60_000,
);

onLinux(
  'while PostgreSQL is frozen every answer is a 503; when it goes on the same process works, and nothing is lost',
  async () => {
    const seen = await seenWhile('frozen', async () => {
      postgres.freeze();
      await wait(FROZEN_MS);
      postgres.thaw();
    });
    expectOnlyUnavailable(seen);
    expect(hub.child.exitCode).toBeNull();
    expect(await ledger.lost()).toEqual([]);
  },
  60_000,
);

test('a request waits for two connections and a statement less than the five seconds in which it is answered', () => {
  const options = poolOptions({ connectionString: postgres.databaseUrl, max: 1, applicationName: 'x', ...poolLimits });
  const [connection, statement] = [Number(options.connectionTimeoutMillis), Number(options.query_timeout)];
  expect(2 * connection + statement).toBeLessThan(ANSWERED_WITHIN_MS);
  expect(Number(options.statement_timeout)).toBeLessThan(statement); // a server that answers says so itself
  expect(Number(options.lock_timeout)).toBeLessThan(Number(options.statement_timeout));
});

// FAULT_FIGURES=1 prints what was measured.
import { setTimeout as wait } from 'node:timers/promises';
import { poolOptions } from '@svc/database';
import { poolLimits } from '../../src/database/client.ts';
import { openLedger } from './identity-ledger.ts';
import { eventually, type Seen, startLoad, statusesOf, summaryOf } from './identity-load.ts';
import type { OwnPostgres } from './identity-postgres.ts';
import { anAdminToken, figure, isReady, prepareFaults, queryOn, type RunningFleet } from './identity-world.ts';

const { aPostgres, aFleet } = prepareFaults();
/** The processes of PostgreSQL are found in /proc. */
const onLinux = process.platform === 'linux' ? test : test.skip;
const AWAY_MS = 2000;
const FROZEN_MS = 5000;
/** So many are acknowledged before the fault. */
const SOME_CHANGES = 30;
const ANSWERED_WITHIN_MS = 5000;

let postgres: OwnPostgres;
let fleet: RunningFleet;
let ledger: ReturnType<typeof openLedger>;
let query: ReturnType<typeof queryOn>;

beforeAll(async () => {
  postgres = await aPostgres();
  query = queryOn(postgres.databaseUrl);
  fleet = await aFleet({ databaseUrl: postgres.databaseUrl });
  ledger = openLedger({ url: () => fleet.url, secret: await anAdminToken(postgres.databaseUrl) });
}, 60_000);

/** What readers and writers see while that happens, until the fleet works again. */
async function seenWhile(fault: string, happens: () => Promise<void>): Promise<readonly Seen[]> {
  const load = startLoad([
    ...['a', 'b', 'c'].map((lane) => ledger.writer(`${fault} ${lane}`)),
    ledger.reader('/api/v1/tokens'),
    ledger.reader('/api/v1/catalog/templates'),
    ledger.reader('/healthz'),
  ]);
  try {
    const before = ledger.acknowledged();
    await eventually('changes are acknowledged', async () => ledger.acknowledged() >= before + SOME_CHANGES);
    await happens();
    const back = performance.now();
    await eventually('the fleet works again', works);
    figure(`PostgreSQL ${fault}: works again after ${Math.round(performance.now() - back)} ms`);
  } finally {
    await load.stop();
  }
  figure(`PostgreSQL ${fault}: ${summaryOf(load.seen)}; ${ledger.acknowledged()} changes acknowledged`);
  return load.seen;
}

const works = async () => (await ledger.writer('after')()).status === 201 && (await isReady(fleet));

/** Nothing but success or "not now", with a word on when to try again; the process lives, and the books are right. */
async function expectOnlyUnavailable(seen: readonly Seen[]): Promise<void> {
  expect(statusesOf(seen)).toEqual([200, 201, 503]);
  const refusals = seen.filter(({ status }) => status === 503);
  expect(new Set(refusals.map(({ retryAfter, body }) => `${body.code} ${retryAfter}`))).toEqual(
    new Set(['unavailable 1']),
  );
  expect(fleet.child.exitCode).toBeNull();
  expect(await ledger.lost(query)).toEqual([]);
  expect(await ledger.misrecorded(query)).toEqual([]);
}

onLinux(
  'while PostgreSQL is killed and away every answer is a 503; when it is back the same process works, and nothing is lost',
  async () => {
    const seen = await seenWhile('killed', async () => {
      await postgres.kill();
      await wait(AWAY_MS);
      await postgres.restart();
    });
    await expectOnlyUnavailable(seen);
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
    await expectOnlyUnavailable(seen);
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

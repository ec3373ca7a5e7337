import { beforeAll, expect, test } from '@jest/globals';
import { type PoolWishes, poolOptions } from '@svc/database';
import { byDepth, figure } from '../depth.ts';
import { isReady } from './balancer.ts';
import { eventually } from './eventually.ts';
import { type Ledger, moreAcknowledged } from './ledger.ts';
import { type Seen, startLoad, statusesOf, summaryOf } from './load.ts';
import type { OwnPostgres } from './own-postgres.ts';
import type { RunningService } from './prepare.ts';

/** A service on a PostgreSQL of its own, and its users. */
export interface Away {
  readonly postgres: OwnPostgres;
  readonly service: RunningService;
  readonly ledger: Ledger;
  /** Requests of every kind that change nothing. */
  readonly readers: readonly (() => Promise<Seen>)[];
  /** Differences between the ledger and the database, as text. */
  readonly wrong: () => Promise<string[]>;
}

const WRITERS = ['a', 'b', 'c'];
/** Writes that are acknowledged before the fault. */
const SOME_WRITES = byDepth({ short: 10, full: 30, long: 30 });
/** Between two requests of a lane. */
const PAUSE_MS = byDepth({ short: 50, full: 10, long: 10 });
const ANSWERED_WITHIN_MS = 5000;

/** Tests that a service answers 503 while its PostgreSQL is away, loses nothing, and works again without a restart. */
export function testDatabaseAway(start: () => Promise<Away>): void {
  const onLinux = process.platform === 'linux' ? test : test.skip; // finds the processes of PostgreSQL in /proc
  let away: Away;
  beforeAll(async () => {
    away = await start();
  }, 60_000);

  onLinux(
    'answers 503 while PostgreSQL is killed, loses no acknowledged write, and works again after its restart',
    async () => {
      const { postgres } = away;
      const seen = await seenWhile(away, 'killed', async (refused) => {
        await postgres.kill();
        await refused();
        await postgres.restart();
      });
      await expectOnlyUnavailable(away, seen);
    },
    60_000,
  );

  onLinux(
    'answers 503 while PostgreSQL is frozen, loses no acknowledged write, and works again when it continues',
    async () => {
      const { postgres } = away;
      const seen = await seenWhile(away, 'frozen', async (refused) => {
        postgres.freeze();
        await refused();
        postgres.thaw();
      });
      await expectOnlyUnavailable(away, seen);
    },
    60_000,
  );
}

/** Tests the limits of a service's pools. */
export function testPatience(limits: Pick<PoolWishes, 'connectTimeoutMs' | 'lockTimeoutMs' | 'statementTimeoutMs'>) {
  test('two waits for a connection and one statement take less than the five seconds that a request may take', () => {
    const connectionString = 'postgresql://127.0.0.1/service';
    const options = poolOptions({ connectionString, max: 1, applicationName: 'x', ...limits });
    const [connection, statement] = [Number(options.connectionTimeoutMillis), Number(options.query_timeout)];
    expect(2 * connection + statement).toBeLessThan(ANSWERED_WITHIN_MS);
    expect(Number(options.statement_timeout)).toBeLessThan(statement); // PostgreSQL reports it first, if it answers
    expect(Number(options.lock_timeout)).toBeLessThan(Number(options.statement_timeout));
  });
}

/**
 * What readers and writers see during a fault, until the service works again. `happens` causes the fault, waits by its
 * argument until every writer is answered 503 and every reader is answered, and ends the fault.
 */
async function seenWhile(
  { service, ledger, readers }: Away,
  fault: string,
  happens: (refused: () => Promise<void>) => Promise<void>,
) {
  let tries = 0;
  const works = async () =>
    (await ledger.writer(`after-${fault}-${++tries}`)()).status === 201 && (await isReady(service));
  const writers = WRITERS.map((lane) => ledger.writer(`${fault}-${lane}`));
  const load = startLoad([...readers, ...writers], { pauseMs: PAUSE_MS });
  const refused = () => {
    const before = load.lanes.map(({ length }) => length);
    const isRefused = (lane: readonly Seen[], index: number) =>
      index < readers.length ? lane.length > (before[index] ?? 0) : lane.some(({ status }) => status === 503);
    return eventually('all writers are refused', async () => load.lanes.every(isRefused));
  };
  try {
    await moreAcknowledged(ledger, SOME_WRITES);
    await happens(refused);
    const back = performance.now();
    await eventually('the service works again', works);
    figure(`PostgreSQL ${fault}: works again after ${Math.round(performance.now() - back)} ms`);
  } finally {
    await load.stop();
  }
  figure(`PostgreSQL ${fault}: ${summaryOf(load.seen)}; ${ledger.acknowledged()} writes acknowledged`);
  return load.seen;
}

/** Every answer is a success or a 503 with Retry-After, the process runs, and the ledger agrees with the database. */
async function expectOnlyUnavailable({ service, wrong }: Away, seen: readonly Seen[]): Promise<void> {
  expect(statusesOf(seen)).toEqual([200, 201, 503]);
  const refusals = seen.filter(({ status, body }) => status === 503 && !('checks' in body)); // readiness has its own form
  const words = refusals.map(({ retryAfter, body }) => `${body.code} ${retryAfter}`);
  expect(new Set(words)).toEqual(new Set(['unavailable 1']));
  expect(service.child.exitCode).toBeNull();
  expect(await wrong()).toEqual([]);
}

import { beforeAll, expect, test } from '@jest/globals';
import { type PoolSettings, poolOptions } from '@svc/database';
import { figure } from '../run/depth.ts';
import { eventually } from '../run/eventually.ts';
import { isReady } from './balancer.ts';
import { type Ledger, moreAcknowledged } from './ledger.ts';
import { type LoadResult, startLoad, statusesOf, summaryOf } from './load.ts';
import type { OwnPostgres } from './own-postgres.ts';
import type { RunningService } from './prepare.ts';

/** A service with its own PostgreSQL server, and its clients. */
export interface Away {
  readonly postgres: OwnPostgres;
  readonly service: RunningService;
  readonly ledger: Ledger;
  /** Read requests of all kinds. */
  readonly readers: readonly (() => Promise<LoadResult>)[];
  /** Differences between the ledger and the database. */
  readonly wrong: () => Promise<string[]>;
}

const WRITERS = ['a', 'b', 'c'];
/** Number of writes that are acknowledged before the fault. */
const SOME_WRITES = 30;
/** Pause between two requests of a lane. */
const PAUSE_MS = 10;
const ANSWERED_WITHIN_MS = 5000;

/**
 * Tests that a service responds with 503 while PostgreSQL is unavailable, loses no data, and
 * recovers without a restart.
 */
export function testDatabaseOutage(start: () => Promise<Away>): void {
  // The processes of PostgreSQL are found in /proc.
  const onLinux = process.platform === 'linux' ? test : test.skip;
  let away: Away;
  beforeAll(async () => {
    away = await start();
  });

  onLinux(
    'responds with 503 while PostgreSQL is stopped by SIGKILL, loses no acknowledged write, and recovers after its restart',
    async () => {
      const { postgres } = away;
      const seen = await seenWhile(away, 'killed', async (refused) => {
        await postgres.kill();
        await refused();
        await postgres.restart();
      });
      await expectOnlyUnavailable(away, seen);
    },
  );

  onLinux(
    'responds with 503 while PostgreSQL is frozen, loses no acknowledged write, and recovers when it continues',
    async () => {
      const { postgres } = away;
      const seen = await seenWhile(away, 'frozen', async (refused) => {
        postgres.freeze();
        await refused();
        postgres.thaw();
      });
      await expectOnlyUnavailable(away, seen);
    },
  );
}

/** Tests the timeouts of the pools of a service. */
export function testTimeouts(limits: Pick<PoolSettings, 'connectTimeoutMs' | 'lockTimeoutMs' | 'statementTimeoutMs'>) {
  test('two connection timeouts and a statement timeout are together less than the 5 seconds allowed for a request', () => {
    const connectionString = 'postgresql://127.0.0.1/service';
    const options = poolOptions({ connectionString, max: 1, applicationName: 'x', ...limits });
    const connection = Number(options.connectionTimeoutMillis);
    const statement = Number(options.query_timeout);
    expect(2 * connection + statement).toBeLessThan(ANSWERED_WITHIN_MS);
    // PostgreSQL reports the timeout first, if it responds.
    expect(Number(options.statement_timeout)).toBeLessThan(statement);
    expect(Number(options.lock_timeout)).toBeLessThan(Number(options.statement_timeout));
  });
}

/**
 * The responses that readers and writers receive during a fault, until the service has recovered.
 * `inject` causes the fault, waits with its argument until every writer has received 503 and every
 * reader a response, and ends the fault.
 */
async function seenWhile(
  { service, ledger, readers }: Away,
  fault: string,
  inject: (refused: () => Promise<unknown>) => Promise<void>,
) {
  let tries = 0;
  const works = async () =>
    (await ledger.writer(`after-${fault}-${++tries}`)()).status === 201 && (await isReady(service));
  const writers = WRITERS.map((lane) => ledger.writer(`${fault}-${lane}`));
  const load = startLoad([...readers, ...writers], { pauseMs: PAUSE_MS });
  const refused = () => {
    const before = load.lanes.map(({ length }) => length);
    const isRefused = (lane: readonly LoadResult[], index: number) =>
      index < readers.length ? lane.length > (before[index] ?? 0) : lane.some(({ status }) => status === 503);
    return eventually('all writers receive 503', async () => load.lanes.every(isRefused));
  };
  try {
    await moreAcknowledged(ledger, SOME_WRITES);
    await inject(refused);
    const faultEnded = performance.now();
    await eventually('the service has recovered', works);
    figure(`PostgreSQL ${fault}: recovered after ${Math.round(performance.now() - faultEnded)} ms`);
  } finally {
    await load.stop();
  }
  figure(`PostgreSQL ${fault}: ${summaryOf(load.seen)}; ${ledger.acknowledged()} writes acknowledged`);
  return load.seen;
}

/**
 * Expects that each response is a success or 503 with Retry-After, the process runs, and the ledger
 * matches the database.
 */
async function expectOnlyUnavailable({ service, wrong }: Away, seen: readonly LoadResult[]): Promise<void> {
  expect(statusesOf(seen)).toEqual([200, 201, 503]);
  // Readiness has another format.
  const refusals = seen.filter(({ status, body }) => status === 503 && !('checks' in body));
  const codes = refusals.map(({ retryAfter, body }) => `${body.code} ${retryAfter}`);
  expect(new Set(codes)).toEqual(new Set(['unavailable 1']));
  expect(service.child.exitCode).toBeNull();
  expect(await wrong()).toEqual([]);
}

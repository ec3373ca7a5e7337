import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, expect, test } from '@jest/globals';
import { type PoolWishes, poolOptions } from '@svc/database';
import { figure } from '../depth.ts';
import { isReady } from './balancer.ts';
import { eventually } from './eventually.ts';
import { type Ledger, moreAcknowledged } from './ledger.ts';
import { type Seen, startLoad, statusesOf, summaryOf } from './load.ts';
import type { OwnPostgres } from './own-postgres.ts';
import type { RunningService } from './prepare.ts';

/** A service on a PostgreSQL of its own, and who uses it. */
export interface Away {
  readonly postgres: OwnPostgres;
  readonly service: RunningService;
  readonly ledger: Ledger;
  /** Requests of every kind that change nothing. */
  readonly readers: readonly (() => Promise<Seen>)[];
  /** What is wrong in the books when all is over, in words. */
  readonly wrong: () => Promise<string[]>;
}

/** The processes of PostgreSQL are found in /proc. */
const onLinux = process.platform === 'linux' ? test : test.skip;
const AWAY_MS = 2000;
const FROZEN_MS = 6000;
/** So many are acknowledged before the fault. */
const SOME_WRITES = 30;
const ANSWERED_WITHIN_MS = 5000;

/** Tests that a service whose PostgreSQL goes away says "not now", loses nothing, and works when it is back. */
export function testDatabaseAway(start: () => Promise<Away>): void {
  let away: Away;
  beforeAll(async () => {
    away = await start();
  }, 60_000);

  onLinux(
    'while PostgreSQL is killed and away every answer is a 503; when it is back the same process works, and nothing is lost',
    async () => {
      const { postgres } = away;
      const seen = await seenWhile(away, 'killed', async () => {
        await postgres.kill();
        await wait(AWAY_MS);
        await postgres.restart();
      });
      await expectOnlyUnavailable(away, seen);
    },
    60_000,
  );

  onLinux(
    'while PostgreSQL is frozen every answer is a 503; when it goes on the same process works, and nothing is lost',
    async () => {
      const { postgres } = away;
      const seen = await seenWhile(away, 'frozen', async () => {
        postgres.freeze();
        await wait(FROZEN_MS);
        postgres.thaw();
      });
      await expectOnlyUnavailable(away, seen);
    },
    60_000,
  );
}

/** Tests the limits of a service's pools. */
export function testPatience(limits: Pick<PoolWishes, 'connectTimeoutMs' | 'lockTimeoutMs' | 'statementTimeoutMs'>) {
  test('a request waits for two connections and a statement less than the five seconds in which it is answered', () => {
    const connectionString = 'postgresql://127.0.0.1/service';
    const options = poolOptions({ connectionString, max: 1, applicationName: 'x', ...limits });
    const [connection, statement] = [Number(options.connectionTimeoutMillis), Number(options.query_timeout)];
    expect(2 * connection + statement).toBeLessThan(ANSWERED_WITHIN_MS);
    expect(Number(options.statement_timeout)).toBeLessThan(statement); // a server that answers says so itself
    expect(Number(options.lock_timeout)).toBeLessThan(Number(options.statement_timeout));
  });
}

/** What readers and writers of every kind see while that happens, until the service works again. */
async function seenWhile({ service, ledger, readers }: Away, fault: string, happens: () => Promise<void>) {
  let tries = 0;
  const works = async () =>
    (await ledger.writer(`after-${fault}-${++tries}`)()).status === 201 && (await isReady(service));
  const load = startLoad([...readers, ...['a', 'b', 'c'].map((lane) => ledger.writer(`${fault}-${lane}`))]);
  try {
    await moreAcknowledged(ledger, SOME_WRITES);
    await happens();
    const back = performance.now();
    await eventually('the service works again', works);
    figure(`PostgreSQL ${fault}: works again after ${Math.round(performance.now() - back)} ms`);
  } finally {
    await load.stop();
  }
  figure(`PostgreSQL ${fault}: ${summaryOf(load.seen)}; ${ledger.acknowledged()} writes acknowledged`);
  return load.seen;
}

/** Nothing but success or "not now", with a word on when to try again; the process lives, and the books are right. */
async function expectOnlyUnavailable({ service, wrong }: Away, seen: readonly Seen[]): Promise<void> {
  expect(statusesOf(seen)).toEqual([200, 201, 503]);
  const refusals = seen.filter(({ status, body }) => status === 503 && !('checks' in body)); // readiness has its own form
  const words = refusals.map(({ retryAfter, body }) => `${body.code} ${retryAfter}`);
  expect(new Set(words)).toEqual(new Set(['unavailable 1']));
  expect(service.child.exitCode).toBeNull();
  expect(await wrong()).toEqual([]);
}

import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { type Log, type PeriodicTask, runPeriodically } from '@svc/http';
import type { Database } from '../database/client.ts';
import type { Hub } from './hub.ts';

/** Periods and delays of the sync of the catalog, in milliseconds. */
export interface CatalogTimings {
  /**
   * Duration of the lease of a run. If a run does not renew it for this time, another run can
   * acquire it.
   */
  readonly lease: number;
  /** Wait between two renewals of the lease. */
  readonly renewal: number;
  /**
   * Wait before another attempt to acquire a lease that another run holds, plus or minus 50
   * percent.
   */
  readonly leaseRetry: number;
  /**
   * Longest wait before a replica reads the schedule again. A changed setting takes effect within
   * this time.
   */
  readonly recheck: number;
  /** Wait after a failure of the sync or the database if no next attempt is scheduled. */
  readonly afterError: number;
  /** Shortest wait before the schedule is read again. */
  readonly shortest: number;
}

export const DEFAULT_TIMINGS: CatalogTimings = {
  lease: 15_000,
  renewal: 4000,
  leaseRetry: 150,
  recheck: 15_000,
  afterError: 5000,
  shortest: 50,
};

/** The exclusive right of a run to write the mirror, across all replicas. */
export interface Lease {
  /**
   * Each write checks it in the same transaction, so that a run that has lost the lease cannot
   * write.
   */
  readonly owner: string;
  release(): Promise<void>;
}

/**
 * Acquires the lease as soon as no other run holds it. The lease is a row rather than an advisory
 * lock of a session, so that it works with connection poolers.
 * @returns undefined if `isStopped` returns true first
 */
export async function takeLease(
  database: Database,
  isStopped: () => boolean,
  timings: CatalogTimings,
): Promise<Lease | undefined> {
  const owner = randomUUID();
  while (!(await tryTakeLease(database, owner, timings))) {
    if (isStopped()) return undefined;
    await wait(timings.leaseRetry * (0.5 + Math.random()));
  }
  // A failed renewal does not end the run. The next write checks whether the run still holds the
  // lease.
  const renewalTimer = setInterval(() => void renew(database, owner, timings).catch(() => undefined), timings.renewal);
  return {
    owner,
    release: async () => {
      clearInterval(renewalTimer);
      await database.client.$executeRaw`
          UPDATE catalog_sync SET lease_owner = NULL, lease_until = NULL WHERE lease_owner = ${owner}::uuid`;
    },
  };
}

/**
 * A run that stores a page has locked the row. It is skipped, so that this statement does not wait.
 */
async function tryTakeLease({ client }: Database, owner: string, { lease }: CatalogTimings): Promise<boolean> {
  const rows = await client.$executeRaw`
      UPDATE catalog_sync SET lease_owner = ${owner}::uuid, lease_until = now() + make_interval(secs => ${lease / 1000})
      WHERE id = (
        SELECT id FROM catalog_sync WHERE lease_owner IS NULL OR lease_until < now()
        FOR UPDATE SKIP LOCKED)`;
  return rows === 1;
}

const renew = ({ client }: Database, owner: string, { lease }: CatalogTimings) => client.$executeRaw`
  UPDATE catalog_sync SET lease_until = now() + make_interval(secs => ${lease / 1000})
  WHERE lease_owner = ${owner}::uuid`;

/**
 * Seconds until a sync is due, across all replicas. It is 0 before the first sync, and if the hub
 * or key has changed since the last one. After a failure, the planned time applies. Otherwise, the
 * planned time or the current interval applies, whichever is earlier.
 */
export async function secondsUntilDue({ client }: Database, { source }: Hub, intervalSeconds: number): Promise<number> {
  const [row] = await client.$queryRaw<{ seconds: number }[]>`
      SELECT greatest(0, extract(epoch FROM due - now()))::float8 AS seconds FROM (
        SELECT CASE
          WHEN catalog_sync.source IS DISTINCT FROM ${source} THEN now()
          WHEN failures > 0 THEN coalesce(next_at, now())
          ELSE least(next_at, last_success_at + make_interval(secs => ${intervalSeconds * 1.1}::float8))
        END AS due FROM catalog_sync) planned`;
  return row?.seconds ?? 0;
}

interface ScheduledWork {
  /** Seconds until the work is due; infinite if it is not scheduled. */
  readonly due: () => Promise<number>;
  readonly work: () => Promise<void>;
  readonly log: Log;
  readonly timings: CatalogTimings;
}

/** Runs the work each time it is due, until stopped. */
export function runOnSchedule({ due, work, log, timings }: ScheduledWork): PeriodicTask {
  const tryWork = () =>
    work().then(
      () => true,
      (error: unknown) => {
        log.warn({ err: error }, 'sync failed; will retry');
        return false;
      },
    );
  return runPeriodically(0, async () => {
    try {
      const succeeded = (await due()) > 0 || (await tryWork());
      const left = (await due()) * 1000;
      return Math.min(timings.recheck, Math.max(left, succeeded || left > 0 ? timings.shortest : timings.afterError));
    } catch (error) {
      log.warn({ err: error }, 'reading the sync schedule failed; will retry');
      return timings.afterError;
    }
  });
}

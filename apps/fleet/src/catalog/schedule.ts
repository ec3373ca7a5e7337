import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { inRounds, type Log, type Rounds } from '@svc/http';
import type { Database } from '../database/client.ts';
import type { Hub } from './hub.ts';
import type { CatalogTimings } from './timings.ts';

/** The right of one run to write the mirror, over all replicas. */
export interface Lease {
  /** Every write asks for it in its own transaction: who lost it writes no more. */
  readonly owner: string;
  release(): Promise<void>;
}

/**
 * Takes the lease as soon as no other run has it. A row, not a session lock: it survives connection poolers.
 * @returns undefined when `isStopped` says so before
 */
export async function takeLease(
  database: Database,
  isStopped: () => boolean,
  timings: CatalogTimings,
): Promise<Lease | undefined> {
  const owner = randomUUID();
  while (!(await isTaken(database, owner, timings))) {
    if (isStopped()) return undefined;
    await wait(timings.leaseRetry * (0.5 + Math.random()));
  }
  // A renewal that fails does not end the run: its next write finds out whether it still holds the lease.
  const heart = setInterval(() => void renew(database, owner, timings).catch(() => undefined), timings.renewal);
  return {
    owner,
    release: async () => {
      clearInterval(heart);
      await database.client.$executeRaw`
          UPDATE catalog_sync SET lease_owner = NULL, lease_until = NULL WHERE lease_owner = ${owner}::uuid`;
    },
  };
}

/** Whoever stores a page has the row locked: it is passed over, not waited for. */
async function isTaken({ client }: Database, owner: string, { lease }: CatalogTimings): Promise<boolean> {
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
 * Seconds until a sync is due, over all replicas: at once where none was tried yet or where another hub or key was asked;
 * after a failure when the plan says so; else when the plan or the present interval says so, whichever is sooner.
 */
export async function dueIn({ client }: Database, { source }: Hub, intervalSeconds: number): Promise<number> {
  const [row] = await client.$queryRaw<{ seconds: number }[]>`
      SELECT greatest(0, extract(epoch FROM due - now()))::float8 AS seconds FROM (
        SELECT CASE
          WHEN catalog_sync.source IS DISTINCT FROM ${source} THEN now()
          WHEN failures > 0 THEN coalesce(next_at, now())
          ELSE least(next_at, last_success_at + make_interval(secs => ${intervalSeconds * 1.1}::float8))
        END AS due FROM catalog_sync) planned`;
  return row?.seconds ?? 0;
}

interface Scheduled {
  /** Seconds until the work is due; infinite while it never is. */
  readonly due: () => Promise<number>;
  readonly work: () => Promise<void>;
  readonly log: Log;
  readonly timings: CatalogTimings;
}

/** Works whenever it is due, until stopped. */
export function onSchedule({ due, work, log, timings }: Scheduled): Rounds {
  const worked = () =>
    work().then(
      () => true,
      (error: unknown) => {
        log.warn({ err: error }, 'the catalog could not be synced');
        return false;
      },
    );
  return inRounds(0, async () => {
    try {
      const succeeded = (await due()) > 0 || (await worked());
      const left = (await due()) * 1000;
      return Math.min(timings.recheck, Math.max(left, succeeded || left > 0 ? timings.shortest : timings.afterError));
    } catch (error) {
      log.warn({ err: error }, 'the plan of the next sync could not be read');
      return timings.afterError;
    }
  });
}

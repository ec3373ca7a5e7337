import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '../database/client.ts';
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

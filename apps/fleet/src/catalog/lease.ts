import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '../database/client.ts';

/** The right of one run to write the mirror, over all replicas. */
export interface Lease {
  /** Every write asks for it in its own transaction: who lost it writes no more. */
  readonly owner: string;
  release(): Promise<void>;
}

/** Without a sign of life for this long a run counts as dead, and another may begin. */
const LEASE_SECONDS = 15;
const SIGN_OF_LIFE_MS = 4000;
const RETRY_MS = 150;

/**
 * Takes the lease as soon as no other run has it. A row, not a session lock: it survives connection poolers.
 * @returns undefined when `isStopped` says so before
 */
export async function takeLease(database: Database, isStopped: () => boolean): Promise<Lease | undefined> {
  const owner = randomUUID();
  while (!(await isTaken(database, owner))) {
    if (isStopped()) return undefined;
    await wait(RETRY_MS * (0.5 + Math.random()));
  }
  // A sign of life that fails is no reason to stop: the next write finds out whether the lease is still there.
  const heart = setInterval(() => void prolong(database, owner).catch(() => undefined), SIGN_OF_LIFE_MS);
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
async function isTaken({ client }: Database, owner: string): Promise<boolean> {
  const rows = await client.$executeRaw`
      UPDATE catalog_sync SET lease_owner = ${owner}::uuid, lease_until = now() + make_interval(secs => ${LEASE_SECONDS})
      WHERE id = (
        SELECT id FROM catalog_sync WHERE lease_owner IS NULL OR lease_until < now()
        FOR UPDATE SKIP LOCKED)`;
  return rows === 1;
}

const prolong = ({ client }: Database, owner: string) => client.$executeRaw`
  UPDATE catalog_sync SET lease_until = now() + make_interval(secs => ${LEASE_SECONDS})
  WHERE lease_owner = ${owner}::uuid`;

import type { Prisma } from '../../generated/prisma/client.ts';

/** Work of which one replica at a time decides what begins, so that replicas together stay within a maximum. */
type Work = 'automatic updates' | 'image checks';

/**
 * Takes the turn of this replica until the end of the transaction. Later statements see what the replica before has committed; the
 * statement that takes the turn does not.
 * @returns false if another replica has it
 */
export async function takeTurn(transaction: Prisma.TransactionClient, work: Work): Promise<boolean> {
  const [lock] = await transaction.$queryRaw<{ is_own: boolean }[]>`
    SELECT pg_try_advisory_xact_lock(hashtext(${work})) AS is_own`;
  return lock?.is_own === true;
}

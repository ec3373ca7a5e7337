import type { Prisma } from '../generated/prisma/client.ts';

/** The columns that identify a target. */
interface Target {
  readonly host_id: string | null;
  readonly cluster_id: string | null;
}

/**
 * Records what was removed from its target. A worker checks its lease before each request, but the process can be
 * suspended right after the check and send the request when the deployment no longer exists.
 */
export const recordTombstones = (
  transaction: Pick<Prisma.TransactionClient, 'tombstone'>,
  { host_id, cluster_id }: Target,
  ids: readonly string[],
) =>
  transaction.tombstone.createMany({
    data: ids.map((id) => ({ id, host_id, cluster_id })),
    skipDuplicates: true,
  });

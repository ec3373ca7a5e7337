import type { Prisma } from '../generated/prisma/client.ts';

/** The columns that name a place. */
interface Target {
  readonly host_id: string | null;
  readonly cluster_id: string | null;
}

/**
 * Notes what is gone from its place. A lease is looked at before each request, but a process can be frozen right after that
 * look, and send when the rest of the fleet has forgotten what it was for.
 */
export const noteDeparted = (
  transaction: Pick<Prisma.TransactionClient, 'departed'>,
  { host_id, cluster_id }: Target,
  ids: readonly string[],
) =>
  transaction.departed.createMany({
    data: ids.map((id) => ({ id, host_id, cluster_id })),
    skipDuplicates: true,
  });

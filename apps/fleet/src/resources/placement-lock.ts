import type { Prisma } from '../generated/prisma/client.ts';

/**
 * What is placed, allocated, attached and referred to is decided by one transaction at a time: nothing is given twice, and
 * nothing goes while somebody begins to use it.
 */
export async function decideAlone(transaction: Prisma.TransactionClient): Promise<void> {
  await transaction.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('fleet decisions'))`;
}

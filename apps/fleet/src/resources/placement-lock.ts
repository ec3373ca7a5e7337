import type { Prisma } from '../generated/prisma/client.ts';

/**
 * Acquires the advisory lock that serializes placement, allocation, attachment and references
 * between transactions. Resources are not allocated twice, and are not deleted while another
 * transaction starts to use them.
 */
export async function acquirePlacementLock(transaction: Prisma.TransactionClient): Promise<void> {
  await transaction.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('placement'))`;
}

import type { Prisma } from '../generated/prisma/client.ts';
import type { Database } from './client.ts';

export type CatalogTransaction = Prisma.TransactionClient;

/**
 * Runs a transaction that writes to the catalog. Its first statement advances the catalog clock:
 * the row lock serializes all writers, and the new time is the stamp that triggers write into all
 * changed rows.
 * @throws 503 if an earlier writer does not finish in time, or the Problem of a violated constraint
 */
export async function writeCatalog<T>(
  { catalogWriter }: Database,
  work: (transaction: CatalogTransaction) => Promise<T>,
  { timeoutMs }: { readonly timeoutMs?: number } = {},
): Promise<T> {
  return catalogWriter.$transaction(
    async (transaction) => {
      await transaction.$executeRaw`
          UPDATE catalog_clock
          SET at = greatest(date_trunc('milliseconds', clock_timestamp()), at + interval '1 millisecond')`;
      return work(transaction);
    },
    timeoutMs === undefined ? {} : { timeout: timeoutMs },
  );
}

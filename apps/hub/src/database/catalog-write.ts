import type { Prisma } from '../generated/prisma/client.ts';
import type { Database } from './client.ts';

export type CatalogTransaction = Prisma.TransactionClient;

/**
 * One transaction that changes what anyone sees of the catalog. Its first statement moves the catalog's clock: the row
 * lock is the queue of all writers, and the new time is the stamp that the triggers write into whatever is touched.
 * @throws 503 when a writer before it does not finish in time; the Problem of a constraint that is violated.
 */
export async function writeCatalog<T>(
  { catalogWriter }: Database,
  work: (transaction: CatalogTransaction) => Promise<T>,
  { timeoutMs = 8000 }: { readonly timeoutMs?: number } = {},
): Promise<T> {
  return catalogWriter.$transaction(
    async (transaction) => {
      await transaction.$executeRaw`
          UPDATE catalog_clock
          SET at = greatest(date_trunc('milliseconds', clock_timestamp()), at + interval '1 millisecond')`;
      return work(transaction);
    },
    { maxWait: 2000, timeout: timeoutMs },
  );
}

import type { Prisma } from '../generated/prisma/client.ts';
import type { Database } from './client.ts';

export type CatalogTransaction = Prisma.TransactionClient;

/** Who writes to the catalog, and why. Triggers record it with the revisions of templates. */
export interface Change {
  /** The e-mail address or the name of the author. */
  readonly author: string | null;
  readonly author_id: string | null;
  readonly message: string;
}

interface WriteOptions {
  /** Undefined: not known. */
  readonly change?: Change | undefined;
  /** The longest duration of the transaction, in milliseconds. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Runs a transaction that writes to the catalog. Its first statement advances the catalog clock:
 * the row lock serializes all writers, and the new time is the stamp that triggers write into all
 * changed rows.
 * @throws 503 if an earlier writer does not finish in time, or the Problem of a violated constraint
 */
export async function writeCatalog<T>(
  { catalogWriter }: Database,
  work: (transaction: CatalogTransaction) => Promise<T>,
  { change, timeoutMs }: WriteOptions = {},
): Promise<T> {
  const setting = change ? JSON.stringify(change) : '';
  return catalogWriter.$transaction(
    async (transaction) => {
      await transaction.$executeRaw`
          UPDATE catalog_clock
          SET at = greatest(date_trunc('milliseconds', clock_timestamp()), at + interval '1 millisecond')
          RETURNING set_config('hub.change', ${setting}, true)`;
      return work(transaction);
    },
    timeoutMs === undefined ? {} : { timeout: timeoutMs },
  );
}

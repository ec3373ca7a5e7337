import { eventually } from '../run/eventually.ts';

/** A client of Prisma. */
interface Client {
  $queryRawUnsafe<T>(sql: string): PromiseLike<T>;
}

// In a transaction, pg_stat_activity would always have the rows of its first use.
const BLOCKED = `
  SELECT pid, locktype, mode FROM pg_locks WHERE NOT granted AND pid IN (
    SELECT pid FROM pg_locks WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database()))`;

/** Resolves when at least this number of connections to the database wait for locks of others. */
export async function connectionsBlocked(client: Client, count: number): Promise<void> {
  await eventually(
    `${count} connections wait for locks`,
    () => client.$queryRawUnsafe<{ readonly pid: number }[]>(BLOCKED),
    { until: (locks) => new Set(locks.map(({ pid }) => pid)).size >= count },
  );
}

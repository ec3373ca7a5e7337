import { eventually } from '../run/eventually.ts';

/** A client of Prisma. */
interface Client {
  $queryRawUnsafe<T>(sql: string): PromiseLike<T>;
}

const BLOCKED = `
  SELECT query FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;

/** Resolves when at least this number of connections to the database wait for locks of others. */
export async function connectionsBlocked(client: Client, count: number): Promise<void> {
  await eventually(
    `${count} connections wait for locks`,
    () => client.$queryRawUnsafe<{ readonly query: string }[]>(BLOCKED),
    { until: ({ length }) => length >= count },
  );
}

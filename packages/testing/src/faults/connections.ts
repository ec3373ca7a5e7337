import { onServer } from '../databases.ts';

/** Statements on connections of the test's own. */
export const queryOn =
  (databaseUrl: string) =>
  (sql: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> =>
    onServer(databaseUrl, async (client) => (await client.query(sql, [...values])).rows);

/** Holds a lock in a transaction of the test while `work` runs. */
export const holding = <T>(databaseUrl: string, lock: string, work: () => Promise<T>): Promise<T> =>
  onServer(databaseUrl, async (client) => {
    await client.query(`BEGIN; ${lock}`);
    return await work(); // the transaction ends with the connection
  });

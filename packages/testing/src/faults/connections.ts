import { onServer } from '../databases.ts';

/** Runs statements on connections of the test. */
export const queryOn =
  (databaseUrl: string) =>
  (sql: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> =>
    onServer(databaseUrl, async (client) => (await client.query(sql, [...values])).rows);

/** Runs `work` while a transaction of the test holds a lock. */
export const holding = <T>(databaseUrl: string, lock: string, work: () => Promise<T>): Promise<T> =>
  onServer(databaseUrl, async (client) => {
    await client.query(`BEGIN; ${lock}`);
    return await work(); // the transaction ends with the connection
  });

import { onServer } from '../database/databases.ts';

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

/**
 * Runs `work`, and counts the connections of other sessions to the database during it.
 * @returns the largest number
 */
export const mostConnections = (databaseUrl: string, work: () => Promise<void>): Promise<number> =>
  onServer(databaseUrl, async (observer) => {
    let most = 0;
    let isDone = false;
    const done = work().finally(() => {
      isDone = true;
    });
    do {
      const { rows } = await observer.query(
        `SELECT count(*)::int AS count FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`,
      );
      most = Math.max(most, rows[0].count);
    } while (!isDone);
    await done;
    return most;
  });

/** The name of the migration that `migrateAsLaterVersion` records. */
const LATER_MIGRATION = '99991231000000_later';

/**
 * Changes a database as an additive migration of a later version does, while services use it: each
 * table receives a column. Statements that return all columns of a table then return more than the
 * services know.
 */
export async function migrateAsLaterVersion(databaseUrl: string): Promise<void> {
  await onServer(databaseUrl, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> '_prisma_migrations'`,
    );
    for (const { name } of rows) {
      const table = client.escapeIdentifier(name);
      await client.query(`ALTER TABLE ${table} ADD COLUMN of_a_later_version text NOT NULL DEFAULT ''`);
    }
    await client.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at) VALUES ('later', '', $1, now())`,
      [LATER_MIGRATION],
    );
  });
}

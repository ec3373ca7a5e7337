import { hasChecksum, readMigrations } from './files.ts';

/** Runs one statement and resolves to its rows: `async (sql) => (await pool.query(sql)).rows`. */
export type Query = (sql: string) => Promise<unknown>;

export type MigrationState = {
  /** Not applied. */
  pending: string[];
  /** Applied, and their files were changed later. */
  edited: string[];
  /**
   * Started and not finished, as version 0.1.0 records failed migrations.
   *
   * Delete after 0.2: this member, and its uses in `migrate` and `doctor`.
   */
  failed: FailedMigration[];
  /** The migration that a version of the service must contain to serve the database, if it is not among the files. */
  required?: string;
  /** The last of the files. */
  newest: string;
  /** Applied by a later version: not among the files. */
  later: string[];
};

type FailedMigration = { name: string; log: string };

type HistoryRow = { migration_name: string; checksum: string; finished: boolean; logs: string | null };

/** Compares the migration history of the database with the files: four queries. */
export async function migrationState(o: { prismaDir: string; query: Query }): Promise<MigrationState> {
  const history = await readHistory(o.query);
  const applied = new Map(history.filter((row) => row.finished).map((row) => [row.migration_name, row.checksum]));
  const files = readMigrations(o.prismaDir);
  const oldest = await readOldest(o.query);
  return {
    ...(oldest !== undefined && !files.some(({ name }) => name === oldest) ? { required: oldest } : {}),
    newest: files.at(-1)?.name ?? '',
    later: [...applied.keys()].filter((name) => !files.some((file) => file.name === name)),
    pending: files.filter(({ name }) => !applied.has(name)).map(({ name }) => name),
    edited: files
      .filter((file) => {
        const checksum = applied.get(file.name);
        return checksum !== undefined && !hasChecksum(file, checksum);
      })
      .map(({ name }) => name),
    failed: history
      .filter((row) => !row.finished)
      .map(({ migration_name, logs }) => ({ name: migration_name, log: logs ?? '' })),
  };
}

async function readHistory(query: Query): Promise<HistoryRow[]> {
  // The column of this statement is the member of the type.
  const [table] = (await query(`select to_regclass('_prisma_migrations')::text as name`)) as { name: string | null }[];
  if (!table?.name) return [];
  return (await query(
    'select migration_name, checksum, finished_at is not null as finished, logs from _prisma_migrations where rolled_back_at is null order by started_at',
  )) as HistoryRow[]; // the columns of the statement are the members of the type
}

/** The oldest migration that a version of the service must contain; undefined if the database does not state one. */
async function readOldest(query: Query): Promise<string | undefined> {
  // The column of this statement is the member of the type.
  const [table] = (await query(`select to_regclass('schema_info')::text as name`)) as { name: string | null }[];
  if (!table?.name) return undefined;
  // The column of this statement is the member of the type.
  const [row] = (await query('select oldest_migration from schema_info')) as { oldest_migration: string }[];
  return row?.oldest_migration;
}

import { withConnection } from './connection.ts';
import { migrate } from './migrate.ts';
import { type MigrationState, migrationState } from './state.ts';

interface Preparation {
  readonly prismaDir: string;
  /** The URL with the role of the service. */
  readonly databaseUrl: string;
  /** The URL with the role that owns the database, if this is another one: `MIGRATION_DATABASE_URL`. */
  readonly ownerUrl: string | undefined;
  /** Days for which audit entries are kept; unlimited if undefined. */
  readonly auditRetentionDays: number | undefined;
}

/** Applies pending migrations, and grants the role of the service what it needs. Resolves to the names of the migrations. */
export const migrateDatabase = ({ prismaDir, databaseUrl, ownerUrl, auditRetentionDays }: Preparation) =>
  ownerUrl === undefined
    ? migrate({ prismaDir, databaseUrl })
    : migrate({ prismaDir, databaseUrl: ownerUrl, serving: { databaseUrl, auditRetentionDays } });

/**
 * Prepares the database for this version of the service: applies pending migrations if `migrates`. Resolves to their names. Rejects
 * with a message for the user if this version cannot serve the database.
 */
export async function prepareDatabase(preparation: Preparation & { readonly migrates: boolean }): Promise<string[]> {
  const { prismaDir, databaseUrl, migrates } = preparation;
  const applied = migrates ? await migrateDatabase(preparation) : [];
  const state = await withConnection(databaseUrl, (client) =>
    migrationState({ prismaDir, query: async (sql) => (await client.query(sql)).rows }),
  );
  const mismatch = schemaMismatch(state);
  if (mismatch === undefined) return applied;
  const remedy = state.pending.length > 0 ? ' Run the command migrate, or remove MIGRATE_ON_START=false.' : '';
  throw new Error(`The database cannot be used: ${mismatch}.${remedy}`);
}

/** Why this version of the service cannot serve the database; undefined if it can. Later additive migrations do not matter. */
export function schemaMismatch({ pending, required, newest }: MigrationState): string | undefined {
  if (pending.length > 0) return `migrations are not applied: ${pending.join(', ')}`;
  if (required === undefined) return undefined;
  return `this version of the service is too old: its last migration is ${newest}, and the database requires a version with ${required}`;
}

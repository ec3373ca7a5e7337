import { callOf } from '@svc/http';
import { isRefused } from '../translate-error.ts';
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

/** The role must not change the database. */
class NotPermitted extends Error {
  override name = 'NotPermitted';
}

/**
 * Applies pending migrations, and grants the role of the service what it needs. Resolves to the names of the migrations.
 * Rejects with a message for the user.
 */
export async function migrateDatabase(preparation: Preparation): Promise<string[]> {
  const { prismaDir, databaseUrl, ownerUrl, auditRetentionDays } = preparation;
  try {
    if (ownerUrl === undefined) return await migrate({ prismaDir, databaseUrl });
    return await migrate({ prismaDir, databaseUrl: ownerUrl, serving: { databaseUrl, auditRetentionDays } });
  } catch (cause) {
    if (!isRefused(cause)) throw cause;
    const role = decodeURIComponent(new URL(ownerUrl ?? databaseUrl).username);
    throw new NotPermitted(
      `The role ${role} must not migrate the database (${cause.message}). Set MIGRATION_DATABASE_URL to the database with the role that owns it.`,
      { cause },
    );
  }
}

/**
 * Prepares the database for this version of the service: applies pending migrations if `migrates`. Resolves to their names. Rejects
 * with a message for the user if this version cannot serve the database.
 */
export async function prepareDatabase(preparation: Preparation & { readonly migrates: boolean }): Promise<string[]> {
  const { prismaDir, databaseUrl, migrates } = preparation;
  let refused: NotPermitted | undefined;
  const applied = migrates
    ? await migrateDatabase(preparation).catch((error: unknown) => {
        if (!(error instanceof NotPermitted)) throw error;
        refused = error; // it does not matter if nothing is pending
        return [];
      })
    : [];
  const state = await withConnection(databaseUrl, (client) =>
    migrationState({ prismaDir, query: async (sql) => (await client.query(sql)).rows }),
  ).catch((cause: unknown) => {
    throw isRefused(cause) ? new Error(`The database cannot be used: ${NO_PRIVILEGES}.`, { cause }) : cause;
  });
  const mismatch = schemaMismatch(state);
  if (mismatch === undefined) return applied;
  throw new Error([`The database cannot be used: ${mismatch}.`, ...(refused ? [refused.message] : [])].join(' '));
}

/** What is wrong if the role of the service must not read the history of migrations. */
const NO_PRIVILEGES = `the role of the service lacks privileges, which the role that owns the database grants. Run the command migrate: ${callOf('migrate')}`;

/** The number of pending migrations that a message names. */
const NAMED = 3;

/**
 * Why this version of the service cannot serve the database, and what to do; undefined if it can. Later additive migrations do not
 * matter.
 */
export function schemaMismatch({ pending, required, newest }: MigrationState): string | undefined {
  if (pending.length > 0) return `${pendingText(pending)}. Run the command migrate: ${callOf('migrate')}`;
  if (required === undefined) return undefined;
  return `this version of the service is too old: its last migration is ${newest}, and the database requires a version with ${required}`;
}

/** Which migrations are not applied, in one line. */
export function pendingText(pending: readonly string[]): string {
  const more = pending.length > NAMED ? ` and ${pending.length - NAMED} more` : '';
  return `migrations are not applied: ${pending.slice(0, NAMED).join(', ')}${more}`;
}

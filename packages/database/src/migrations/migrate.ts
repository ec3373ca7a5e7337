import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { withConnection } from './connection.ts';
import { checksumOf, type MigrationFile, readMigrations } from './files.ts';
import { grantServingRole, type Serving } from './serving-role.ts';
import { type MigrationState, migrationState } from './state.ts';

export type MigrationTarget = { prismaDir: string; databaseUrl: string };

const lockKey = 8_241_970_531; // differs from Prisma's own lock, 72707369
const lockWaitSeconds = 60;

/**
 * Applies pending migrations, each in one transaction, and resolves to their names. Several replicas can call it at the
 * same time: one migrates, the others wait for up to a minute. With `serving`, another role serves the database and
 * receives its privileges. Rejects with a message for the user if the file of an applied migration was edited, an
 * earlier version has recorded a migration as failed, a migration fails, or the database is not reachable.
 */
export async function migrate({
  prismaDir,
  databaseUrl,
  serving,
}: MigrationTarget & { serving?: Serving }): Promise<string[]> {
  return withConnection(databaseUrl, async (client) => {
    await takeLock(client);
    await resetInterrupted(client);
    const applied = await applyPending(client, prismaDir);
    if (serving) await grantServingRole(client, serving);
    return applied;
  });
}

async function applyPending(client: pg.Client, prismaDir: string): Promise<string[]> {
  const state = await migrationState({ prismaDir, query: async (sql) => (await client.query(sql)).rows });
  requireConsistent(state);
  if (state.pending.length === 0) return [];
  await createHistory(client);
  for (const file of readMigrations(prismaDir)) {
    if (state.pending.includes(file.name)) await apply(client, file);
  }
  return state.pending;
}

/** The table in which Prisma records applied migrations, as Prisma creates it. */
const HISTORY = `
  CREATE TABLE _prisma_migrations (
    id                      VARCHAR(36) PRIMARY KEY NOT NULL,
    checksum                VARCHAR(64) NOT NULL,
    finished_at             TIMESTAMPTZ,
    migration_name          VARCHAR(255) NOT NULL,
    logs                    TEXT,
    rolled_back_at          TIMESTAMPTZ,
    started_at              TIMESTAMPTZ NOT NULL DEFAULT now(),
    applied_steps_count     INTEGER NOT NULL DEFAULT 0
  )`;

async function createHistory(client: pg.Client): Promise<void> {
  if (await hasHistory(client)) return;
  const { rows } = await client.query(`
    SELECT relname AS name FROM pg_class c
    WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
      AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = c.oid AND deptype = 'e')
    ORDER BY relname LIMIT 1`);
  if (rows.length > 0) {
    throw new Error(
      `The database contains tables, such as ${rows[0].name}, but no history of migrations. Use an empty database, or restore a complete backup.`,
    );
  }
  await client.query(HISTORY);
}

/** Applies and records a migration in one transaction. */
async function apply(client: pg.Client, { name, sql }: MigrationFile): Promise<void> {
  try {
    await client.query('BEGIN');
    await client.query('SAVEPOINT migration');
    await client.query(sql);
    await releaseSavepoint(client);
    await client.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
       VALUES ($1, $2, $3, now(), clock_timestamp(), 1)`, // now() is the start of the transaction
      [randomUUID(), checksumOf(sql), name],
    );
    await client.query('COMMIT');
  } catch (cause) {
    await client.query('ROLLBACK').catch(() => {}); // a lost connection has the same effect
    throw new Error(`Migration ${name} could not be applied: ${reasonOf(cause, sql)}`, { cause });
  }
}

/** Fails if the file has ended the transaction: the savepoint does not exist then. */
async function releaseSavepoint(client: pg.Client): Promise<void> {
  await client.query('RELEASE SAVEPOINT migration').catch((cause: unknown) => {
    throw cause instanceof pg.DatabaseError ? new EndedTransaction() : cause;
  });
}

class EndedTransaction extends Error {}

function reasonOf(cause: unknown, sql: string): string {
  if (cause instanceof EndedTransaction) {
    return 'it contains COMMIT or ROLLBACK. Remove them: each migration runs in one transaction. Revert what it has committed, and retry.';
  }
  if (!(cause instanceof pg.DatabaseError)) return `${cause instanceof Error ? cause.message : String(cause)}. Retry.`;
  const { message, code, position, hint } = cause;
  const line = position === undefined ? '' : ` in line ${lineAt(sql, Number(position))}`;
  const advice = hint === undefined ? '' : ` Hint: ${hint}`;
  return `${message} (${code})${line}.${advice} It has changed nothing in the database. Correct the cause, and retry.`;
}

/** The line of the character at `position`, which counts from 1. */
const lineAt = (text: string, position: number) =>
  [...text]
    .slice(0, position - 1)
    .join('')
    .split('\n').length;

/** Held until the connection closes. */
async function takeLock(client: pg.Client): Promise<void> {
  await client.query(`set lock_timeout = '${lockWaitSeconds}s'`);
  try {
    await client.query('select pg_advisory_lock($1)', [lockKey]);
    await client.query('reset lock_timeout'); // migrations wait for locks as the settings of the database state
  } catch (cause) {
    if (!(cause instanceof pg.DatabaseError) || cause.code !== '55P03') throw cause;
    throw new Error(
      `Another process has been migrating this database for ${lockWaitSeconds} seconds. Wait until it finishes, or end it, and retry.`,
      { cause },
    );
  }
}

/**
 * Resets migrations that were started, are not finished and have no error: a process of version 0.1.0 was killed, and
 * its transaction was rolled back. No other process applies them, because this process holds the lock, so they are
 * applied again.
 *
 * Delete after 0.2: this function. Later versions record a migration when it is finished.
 */
async function resetInterrupted(client: pg.Client): Promise<void> {
  if (!(await hasHistory(client))) return;
  await client.query(
    'update _prisma_migrations set rolled_back_at = now() where finished_at is null and rolled_back_at is null and logs is null',
  );
}

async function hasHistory(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query(`select to_regclass('_prisma_migrations') is not null as exists`);
  return rows[0].exists;
}

/** @throws if version 0.1.0 has recorded a migration as failed, or the file of an applied migration was edited */
export function requireConsistent({ edited, failed }: MigrationState): void {
  const [first] = failed;
  if (first) {
    throw new Error(
      `Migration ${first.name} has failed${first.log ? ` (${withoutTrace(first.log)})` : ''}. ` +
        'Correct it, revert its changes of the database (none, unless the file contains COMMIT), run ' +
        `UPDATE _prisma_migrations SET rolled_back_at = now() WHERE migration_name = '${first.name}' AND finished_at IS NULL; ` +
        'and retry.',
    );
  }
  if (edited.length > 0) {
    throw new Error(
      `The files of applied migrations were changed: ${edited.join(', ')}. Restore them, and create a new migration for the change.`,
    );
  }
}

/** A message of the schema engine without its stack trace. */
export function withoutTrace(message: string): string {
  const lines = message.split('\n').filter((line) => /^\S/.test(line) && line !== 'external connector error');
  return lines.join(' ');
}

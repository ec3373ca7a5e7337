import fs from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { withConnection } from './connection.ts';
import { type EngineResponse, runEngine } from './engine-process.ts';
import { migrationsFolder } from './files.ts';
import { grantServingRole, type Serving } from './serving-role.ts';
import { type MigrationState, migrationState } from './state.ts';

type MigrationTarget = { prismaDir: string; databaseUrl: string };

const lockKey = 8_241_970_531; // differs from Prisma's own lock, 72707369
const lockWaitSeconds = 60;

/**
 * Applies pending migrations and resolves to their names. Several replicas can call it at the same time: one migrates,
 * the others wait for up to a minute. With `serving`, another role serves the database and receives its privileges. Rejects with a message for the user if the file of an applied migration was
 * edited, an earlier migration failed, a migration fails, or the database is not reachable.
 */
export async function migrate({ serving, ...target }: MigrationTarget & { serving?: Serving }): Promise<string[]> {
  return withConnection(target.databaseUrl, async (client) => {
    await takeLock(client);
    await resetInterrupted(client);
    const applied = await applyPending(client, target);
    if (serving) await grantServingRole(client, serving);
    return applied;
  });
}

async function applyPending(client: pg.Client, { prismaDir, databaseUrl }: MigrationTarget): Promise<string[]> {
  const stateNow = () => migrationState({ prismaDir, query: async (sql) => (await client.query(sql)).rows });
  const state = await stateNow();
  requireConsistent(state);
  if (state.pending.length === 0) return [];
  const response = await runEngine({ kind: 'apply', prismaDir, databaseUrl });
  if (response.kind === 'applied') return response.names;
  const [failed] = (await stateNow()).failed;
  throw new Error(`${failed ? `Migration ${failed.name}` : 'A migration'} could not be applied: ${reasonOf(response)}`);
}

/** The SQL that would make the database match schema.prisma; '' if it matches. */
export async function migrationDrift({ prismaDir, databaseUrl }: MigrationTarget): Promise<string> {
  await withConnection(databaseUrl, async () => {}); // fails with a shorter message than the engine
  const response = await runEngine({ kind: 'compare', prismaDir, databaseUrl });
  if (response.kind === 'compared') return response.sql;
  throw new Error(`The database could not be compared with its schema: ${reasonOf(response)}`);
}

/**
 * Writes a migration from a database that has all migrations to schema.prisma. Resolves to the name of its folder, or
 * to undefined if there are no changes.
 */
export async function newMigration(o: MigrationTarget & { name: string }): Promise<string | undefined> {
  if (!/^[a-z0-9_]+$/.test(o.name)) throw new Error('The name of a migration must contain only a-z, 0-9 and _.');
  const state = await withConnection(o.databaseUrl, (client) =>
    migrationState({ prismaDir: o.prismaDir, query: async (sql) => (await client.query(sql)).rows }),
  );
  requireConsistent(state);
  if (state.pending.length > 0) {
    throw new Error(
      `This database lacks ${state.pending.join(', ')}. Apply these migrations first, or unset DATABASE_URL.`,
    );
  }
  const sql = await migrationDrift(o);
  if (!sql) return undefined;
  const folder = migrationsFolder(o.prismaDir);
  const name = `${new Date().toISOString().replace(/\D/g, '').slice(0, 14)}_${o.name}`;
  fs.mkdirSync(path.join(folder, name), { recursive: true });
  fs.writeFileSync(path.join(folder, name, 'migration.sql'), sql);
  fs.writeFileSync(path.join(folder, 'migration_lock.toml'), 'provider = "postgresql"\n');
  return name;
}

/** Held until the connection closes. */
async function takeLock(client: pg.Client): Promise<void> {
  await client.query(`set lock_timeout = '${lockWaitSeconds}s'`);
  try {
    await client.query('select pg_advisory_lock($1)', [lockKey]);
  } catch (cause) {
    if (!(cause instanceof pg.DatabaseError) || cause.code !== '55P03') throw cause;
    throw new Error(
      `Another process has been migrating this database for ${lockWaitSeconds} seconds. Wait until it finishes, or end it, and retry.`,
      { cause },
    );
  }
}

/**
 * Resets migrations that were started, are not finished and have no error. Their process was killed, and their
 * transaction was rolled back. No other process applies them, because this process holds the lock, so they are applied
 * again.
 */
async function resetInterrupted(client: pg.Client): Promise<void> {
  const { rows } = await client.query(`select to_regclass('_prisma_migrations') is not null as exists`);
  if (!rows[0].exists) return;
  await client.query(
    'update _prisma_migrations set rolled_back_at = now() where finished_at is null and rolled_back_at is null and logs is null',
  );
}

function requireConsistent({ edited, failed }: MigrationState): void {
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

function reasonOf(response: EngineResponse): string {
  return response.kind === 'failed' ? withoutTrace(response.reason) : 'unexpected response of the schema engine.';
}

/** A message of the engine without its stack trace. */
function withoutTrace(message: string): string {
  const lines = message.split('\n').filter((line) => /^\S/.test(line) && line !== 'external connector error');
  return lines.join(' ');
}

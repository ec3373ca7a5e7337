import fs from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { withConnection } from './connection.ts';
import { askEngine, type EngineAnswer } from './engine-process.ts';
import { migrationsFolder } from './files.ts';
import { type MigrationState, migrationState } from './state.ts';

type Place = { prismaDir: string; databaseUrl: string };

const lockKey = 8_241_970_531; // ours alone: Prisma's own lock is 72707369
const lockWaitSeconds = 60;

/**
 * Applies what is pending and answers with the names. Several replicas may do so at once: one migrates, the others wait
 * for it, a minute at most. Throws a sentence that says what to do when an applied file was edited, when an earlier
 * migration failed, when this one does, when the database can't be reached.
 */
export async function migrate({ prismaDir, databaseUrl }: Place): Promise<string[]> {
  return withConnection(databaseUrl, async (client) => {
    await takeLock(client);
    await forgetInterrupted(client);
    const stateNow = () => migrationState({ prismaDir, query: async (sql) => (await client.query(sql)).rows });
    const state = await stateNow();
    refuseToContinue(state);
    if (state.pending.length === 0) return [];
    const answer = await askEngine({ kind: 'apply', prismaDir, databaseUrl });
    if (answer.kind === 'applied') return answer.names;
    const [failed] = (await stateNow()).failed;
    throw new Error(`${failed ? `Migration ${failed.name}` : 'A migration'} could not be applied: ${reasonOf(answer)}`);
  });
}

/** The SQL that would make the database fit schema.prisma; '' when it does. */
export async function migrationDrift({ prismaDir, databaseUrl }: Place): Promise<string> {
  await withConnection(databaseUrl, async () => {}); // tells in one sentence what the engine tells in a page
  const answer = await askEngine({ kind: 'compare', prismaDir, databaseUrl });
  if (answer.kind === 'compared') return answer.sql;
  throw new Error(`The database could not be compared with its schema: ${reasonOf(answer)}`);
}

/**
 * Writes the next migration: from a database that has all of them to schema.prisma. Answers with its folder's name,
 * undefined when there is nothing to change.
 */
export async function newMigration(o: Place & { name: string }): Promise<string | undefined> {
  if (!/^[a-z0-9_]+$/.test(o.name)) throw new Error('The name of a migration takes a-z, 0-9 and _ only.');
  const state = await withConnection(o.databaseUrl, (client) =>
    migrationState({ prismaDir: o.prismaDir, query: async (sql) => (await client.query(sql)).rows }),
  );
  refuseToContinue(state);
  if (state.pending.length > 0) {
    throw new Error(`This database lacks ${state.pending.join(', ')}: apply that first, or leave DATABASE_URL unset.`);
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
      `Another process has been migrating this database for ${lockWaitSeconds} seconds: wait until it is done, or end it, and start again.`,
      { cause },
    );
  }
}

/**
 * A migration that was begun, is not finished and has no error: its process was killed, and its transaction with it. Nobody
 * else is at it, since the lock is ours, so it begins anew.
 */
async function forgetInterrupted(client: pg.Client): Promise<void> {
  const { rows } = await client.query(`select to_regclass('_prisma_migrations') is not null as exists`);
  if (!rows[0].exists) return;
  await client.query(
    'update _prisma_migrations set rolled_back_at = now() where finished_at is null and rolled_back_at is null and logs is null',
  );
}

function refuseToContinue({ edited, failed }: MigrationState): void {
  const [first] = failed;
  if (first) {
    throw new Error(
      `Migration ${first.name} was begun and never finished${first.log ? ` (${withoutTrace(first.log)})` : ''}: ` +
        'mend it, undo by hand what it left in the database (nothing, unless the file commits in between), run ' +
        `UPDATE _prisma_migrations SET rolled_back_at = now() WHERE migration_name = '${first.name}' AND finished_at IS NULL; ` +
        'and start again.',
    );
  }
  if (edited.length > 0) {
    throw new Error(
      `Applied migrations were edited: ${edited.join(', ')}. Restore these files, and put the change into a new migration.`,
    );
  }
}

function reasonOf(answer: EngineAnswer): string {
  return answer.kind === 'failed' ? withoutTrace(answer.reason) : 'the engine gave another answer than was asked for.';
}

/** The engine's words without the places in its own code. */
function withoutTrace(told: string): string {
  const lines = told.split('\n').filter((line) => /^\S/.test(line) && line !== 'external connector error');
  return lines.join(' ');
}

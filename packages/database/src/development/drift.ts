import fs from 'node:fs';
import path from 'node:path';
import { withConnection } from '../migrations/connection.ts';
import { migrationsFolder } from '../migrations/files.ts';
import { type MigrationTarget, requireConsistent, withoutTrace } from '../migrations/migrate.ts';
import { migrationState } from '../migrations/state.ts';
import { runEngine } from './engine-process.ts';

/** The SQL that would make the database match schema.prisma; '' if it matches. */
export async function migrationDrift({ prismaDir, databaseUrl }: MigrationTarget): Promise<string> {
  await withConnection(databaseUrl, async () => {}); // fails with a shorter message than the engine
  const response = await runEngine({ kind: 'compare', prismaDir, databaseUrl });
  if (response.kind === 'compared') return response.sql;
  const reason =
    response.kind === 'failed' ? withoutTrace(response.reason) : 'unexpected response of the schema engine.';
  throw new Error(`The database could not be compared with its schema: ${reason}`);
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

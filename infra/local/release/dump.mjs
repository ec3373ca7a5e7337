import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';

const PRISMA = path.resolve(import.meta.dirname, '../../../prisma');
/** The table in which applied migrations are recorded (packages/database/src/migrations/migrate.ts). */
const MIGRATIONS_TABLE = `CREATE TABLE "_prisma_migrations" (
  "id" VARCHAR(36) PRIMARY KEY, "checksum" VARCHAR(64) NOT NULL, "finished_at" TIMESTAMPTZ,
  "migration_name" VARCHAR(255) NOT NULL, "logs" TEXT, "rolled_back_at" TIMESTAMPTZ,
  "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(), "applied_steps_count" INTEGER NOT NULL DEFAULT 0
);`;

/**
 * The schema and rows of a database as SQL for an empty database. `session_replication_role` must be `replica` while the
 * SQL runs, so that no trigger changes the rows.
 */
export async function dumpDatabase(connectionString, service, version) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    const { rows: tables } = await client.query(
      `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename`,
    );
    const inserts = [];
    for (const { name } of tables) {
      const table = client.escapeIdentifier(name);
      const { rows } = await client.query(`SELECT row_to_json(t)::text AS json FROM ${table} t ORDER BY t::text`);
      if (rows.length === 0) continue;
      const values = client.escapeLiteral(`[${rows.map(({ json }) => json).join(',\n')}]`);
      inserts.push(
        `DELETE FROM ${table};\nINSERT INTO ${table} SELECT * FROM json_populate_recordset(null::${table}, ${values});`,
      );
    }
    return [
      `-- The database of the ${service} ${version}, recorded by infra/local/release/record.mjs.`,
      ...migrationsOf(service),
      MIGRATIONS_TABLE,
      ...inserts,
      '',
    ].join('\n');
  } finally {
    await client.end();
  }
}

function migrationsOf(service) {
  const folder = path.join(PRISMA, service, 'migrations');
  const names = readdirSync(folder, { withFileTypes: true }).filter((it) => it.isDirectory());
  return names
    .map(({ name }) => name)
    .sort()
    .map((name) => readFileSync(path.join(folder, name, 'migration.sql'), 'utf8'));
}

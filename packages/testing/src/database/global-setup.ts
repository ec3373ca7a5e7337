import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@svc/database/embedded';
import { addressOf, onServer } from './databases.ts';

/** The template database of a service. */
type Template = { readonly name: string; readonly prismaDir: string };

/**
 * Data folders of servers that contain a template database, to start a server without initializing
 * it.
 */
const SNAPSHOTS = path.resolve(import.meta.dirname, '../../../../node_modules/.cache/test-databases');
const SNAPSHOT_LIFETIME_MS = 7 * 24 * 3_600_000;

/**
 * For globalSetup of Jest: creates a migrated template database, which `createTestDatabase` copies,
 * for each `name` and content of `prismaDir`. It is on the server of TEST_POSTGRES_URL, or else on
 * a temporary server. Resolves to the teardown function.
 */
export async function setUpDatabases(o: { prismaDir: string; name: string }): Promise<() => Promise<void>> {
  const { prismaDir } = o;
  const template = { name: `template_${o.name}_${hashOf(path.join(prismaDir, 'migrations'))}`, prismaDir };
  process.env.TEST_TEMPLATE = template.name;
  if (process.env.TEST_POSTGRES_URL) {
    await createTemplate(process.env.TEST_POSTGRES_URL, template);
    return async () => {};
  }
  const server = await startWithTemplate(template);
  process.env.TEST_POSTGRES_URL = server.url('postgres');
  return async () => {
    delete process.env.TEST_POSTGRES_URL; // the next run of `jest --watch` starts its own server
    await server.stop();
  };
}

/** Starts a temporary server with the template, from a snapshot, which the first start creates. */
async function startWithTemplate(template: Template): Promise<EmbeddedPostgres> {
  const snapshot = path.join(SNAPSHOTS, `${template.name}_${process.platform}_${process.arch}`);
  if (!existsSync(snapshot)) {
    removeOldSnapshots();
    const server = await startEmbeddedPostgres();
    try {
      await createTemplate(server.url('postgres'), template);
      await server.stopWithSnapshot(snapshot);
    } finally {
      await server.stop();
    }
  }
  return startEmbeddedPostgres({ snapshot });
}

function removeOldSnapshots(): void {
  if (!existsSync(SNAPSHOTS)) return;
  for (const name of readdirSync(SNAPSHOTS)) {
    const folder = path.join(SNAPSHOTS, name);
    const ageMs = Date.now() - (statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if (ageMs > SNAPSHOT_LIFETIME_MS) rmSync(folder, { recursive: true, force: true });
  }
}

/** Creates the template on the server if it does not exist. */
async function createTemplate(server: string, template: Template): Promise<void> {
  const { migrate } = await import('@svc/database'); // here, because most runs use a snapshot
  const databaseUrl = addressOf(server, template.name);
  await onServer(server, async (client) => {
    const database = client.escapeIdentifier(template.name);
    // Two Jest processes can need the same template. The lock is released with the connection.
    await client.query(`set lock_timeout = '60s'`);
    await client.query(`select pg_advisory_lock(hashtext('test-template'))`);
    const found = await client.query('select datistemplate from pg_database where datname = $1', [template.name]);
    if (found.rows[0]?.datistemplate) return;
    // Left by a killed process.
    if (found.rowCount) await client.query(`drop database ${database} with (force)`);
    await client.query(`create database ${database}`);
    await migrate({ prismaDir: template.prismaDir, databaseUrl });
    await compact(databaseUrl);
    // A database with connections cannot be copied.
    await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [template.name]);
    await client.query(`alter database ${database} with is_template true allow_connections false`);
  });
}

/** Rewrites the catalogs without what the migrations have replaced in them, because each test file copies them. */
function compact(databaseUrl: string): Promise<void> {
  return onServer(databaseUrl, async (client) => {
    const { rows } = await client.query(
      `SELECT string_agg(oid::regclass::text, ', ') AS catalogs FROM pg_class
       WHERE relnamespace = 'pg_catalog'::regnamespace AND relkind = 'r' AND NOT relisshared`,
    );
    await client.query(`VACUUM (FULL, FREEZE) ${rows[0].catalogs}`);
  });
}

function hashOf(migrations: string): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(migrations, { recursive: true, encoding: 'utf8' }).sort()) {
    if (name.endsWith('.sql')) hash.update(name).update(readFileSync(path.join(migrations, name)));
  }
  return hash.digest('hex').slice(0, 12);
}

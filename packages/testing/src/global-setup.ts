import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { migrate } from '@svc/database';
import { startEmbeddedPostgres } from '@svc/database/embedded';
import type pg from 'pg';
import { addressOf, onServer } from './databases.ts';

/**
 * For globalSetup of Jest: creates a migrated template database, which `createTestDatabase` copies, for each `name` and
 * content of `prismaDir`. It is on the server of TEST_POSTGRES_URL, or else on a temporary server. Resolves to the
 * teardown function.
 */
export async function setUpDatabases(o: { prismaDir: string; name: string }): Promise<() => Promise<void>> {
  const given = process.env.TEST_POSTGRES_URL;
  const own = given ? undefined : await startEmbeddedPostgres();
  const stop = async () => own?.stop();
  const server = own ? own.url('postgres') : (given ?? '');
  const template = `template_${o.name}_${hashOf(path.join(o.prismaDir, 'migrations'))}`;
  try {
    await onServer(server, (client) => createTemplate(client, { template, server, prismaDir: o.prismaDir }));
  } catch (error) {
    await stop();
    throw error;
  }
  process.env.TEST_POSTGRES_URL = server;
  process.env.TEST_TEMPLATE = template;
  return stop;
}

async function createTemplate(client: pg.Client, o: { template: string; server: string; prismaDir: string }) {
  const database = client.escapeIdentifier(o.template);
  // Two Jest processes can need the same template. The lock is released with the connection.
  await client.query(`set lock_timeout = '60s'`);
  await client.query(`select pg_advisory_lock(hashtext('test-template'))`);
  const found = await client.query('select datistemplate from pg_database where datname = $1', [o.template]);
  if (found.rows[0]?.datistemplate) return;
  if (found.rowCount) await client.query(`drop database ${database} with (force)`); // left by a killed process
  await client.query(`create database ${database}`);
  await migrate({ prismaDir: o.prismaDir, databaseUrl: addressOf(o.server, o.template) });
  // A database with connections cannot be copied.
  await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [o.template]);
  await client.query(`alter database ${database} with is_template true allow_connections false`);
}

function hashOf(migrations: string): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(migrations, { recursive: true, encoding: 'utf8' }).sort()) {
    if (name.endsWith('.sql')) hash.update(name).update(readFileSync(path.join(migrations, name)));
  }
  return hash.digest('hex').slice(0, 12);
}

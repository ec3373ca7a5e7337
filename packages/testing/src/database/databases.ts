import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { scaled } from '../run/deadlines.ts';

export type TestDatabase = { url: string; drop(): Promise<void> };

/** Creates a migrated database for a test file: a copy of the template of `setUpDatabases`. */
export function createTestDatabase(): Promise<TestDatabase> {
  return createDatabase(fromSetup('TEST_TEMPLATE'));
}

/** Creates an empty database. */
export function createEmptyDatabase(): Promise<TestDatabase> {
  return createDatabase('template0');
}

/** The URL of another database on the same server. */
export function addressOf(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}

/** Runs `work` with a connection. */
export async function onServer<T>(connectionString: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: scaled(5000) });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function createDatabase(template: string): Promise<TestDatabase> {
  const server = fromSetup('TEST_POSTGRES_URL');
  const name = `test_${randomBytes(6).toString('hex')}`;
  // Copying files takes 25 ms. The default strategy of PostgreSQL takes several times as long.
  await onServer(server, (client) =>
    client.query(`create database ${name} template ${client.escapeIdentifier(template)} strategy file_copy`),
  );
  return {
    url: addressOf(server, name),
    drop: async () => {
      await onServer(server, (client) => client.query(`drop database if exists ${name} with (force)`));
    },
  };
}

function fromSetup(variable: 'TEST_POSTGRES_URL' | 'TEST_TEMPLATE'): string {
  const value = process.env[variable];
  if (!value) throw new Error(`${variable} is not set. Call setUpDatabases in globalSetup of Jest.`);
  return value;
}

/** A copy of a database at one point in time. */
export interface Backup {
  /** Replaces the database with the copy. All its connections end. */
  restore(): Promise<void>;
  drop(): Promise<void>;
}

/**
 * Copies a database, by default one of `createTestDatabase`. `server` is the URL of a superuser.
 * All its connections end.
 */
export async function backUp(url: string, server = fromSetup('TEST_POSTGRES_URL')): Promise<Backup> {
  const live = new URL(url).pathname.slice(1);
  const copy = `${live}_backup`;
  const drop = (name: string) =>
    onServer(server, (client) => client.query(`drop database if exists ${name} with (force)`));
  await copyDatabase(server, live, copy);
  return {
    restore: async () => {
      await drop(live);
      await copyDatabase(server, copy, live);
    },
    drop: async () => {
      await drop(copy);
    },
  };
}

/** A database with connections cannot be copied. */
async function copyDatabase(server: string, from: string, to: string): Promise<void> {
  await onServer(server, async (client) => {
    await client.query(`alter database ${from} with allow_connections false`);
    await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [from]);
    await client.query(`create database ${to} template ${from} strategy file_copy`);
    await client.query(`alter database ${from} with allow_connections true`);
  });
}

import { randomBytes } from 'node:crypto';
import pg from 'pg';

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
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5000 });
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

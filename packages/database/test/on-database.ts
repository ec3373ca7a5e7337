import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** The URL of the server that the global setup started. */
export const serverUrl = process.env.TEST_SERVER ?? '';

/** The rows of a statement on a new connection. */
export async function rowsOf(connectionString: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5000 });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Creates a database. @returns its URL */
export async function aDatabase({ owner, template }: { owner?: string; template?: string } = {}): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const options = [owner && `owner ${owner}`, template && `template ${template}`].filter(Boolean).join(' ');
  await rowsOf(serverUrl, `create database ${name} ${options}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

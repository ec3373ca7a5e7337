import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** The address of the server of this run, which the global setup started. */
export const serverUrl = process.env.TEST_SERVER ?? '';

/** The rows of one statement on one connection of its own. */
export async function rowsOf(connectionString: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5000 });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** A new database. @returns its address */
export async function aDatabase({ owner, template }: { owner?: string; template?: string } = {}): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const options = [owner && `owner ${owner}`, template && `template ${template}`].filter(Boolean).join(' ');
  await rowsOf(serverUrl, `create database ${name} ${options}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

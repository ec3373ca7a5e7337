import pg from 'pg';

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

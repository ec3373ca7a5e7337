import pg from 'pg';

/**
 * Runs `work` on one plain connection. Throws one sentence, never with the password, when the address is not one of
 * PostgreSQL or the database can't be reached.
 */
export async function withConnection<T>(databaseUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const place = describe(databaseUrl);
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: 'svc-migrate',
    connectionTimeoutMillis: 5000,
    keepAlive: true,
  });
  client.on('error', () => {}); // a lost connection is told by the next query on it
  try {
    await client.connect();
  } catch (cause) {
    throw new Error(`The database ${place} can't be reached: ${told(cause)}.`, { cause });
  }
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function describe(databaseUrl: string): string {
  const url = URL.canParse(databaseUrl) ? new URL(databaseUrl) : undefined;
  if (!url || !/^postgres(ql)?:$/.test(url.protocol)) {
    throw new Error('The address of the database must look like postgresql://user:password@host:5432/name.');
  }
  return `${url.pathname.slice(1)} at ${url.hostname}:${url.port || 5432}`;
}

function told(cause: unknown): string {
  if (cause instanceof AggregateError) return cause.errors.map(told).join(', '); // one for each address of a host name
  return cause instanceof Error ? cause.message : String(cause);
}

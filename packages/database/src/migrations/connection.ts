import pg from 'pg';

/**
 * Runs `work` with a connection. Rejects with a message for the user, without the password, if the URL is not a
 * PostgreSQL URL or the database is not reachable.
 * @param target how the connection is opened; by default as the URL states
 */
export async function withConnection<T>(
  databaseUrl: string,
  work: (client: pg.Client) => Promise<T>,
  target: pg.ClientConfig = { connectionString: databaseUrl },
): Promise<T> {
  const database = describe(databaseUrl);
  const client = new pg.Client({
    ...target,
    application_name: 'svc-migrate',
    connectionTimeoutMillis: 5000,
    keepAlive: true,
  });
  client.on('error', () => {}); // the next query reports a lost connection
  try {
    await client.connect();
  } catch (cause) {
    throw new Error(`The database ${database} is not reachable: ${messageOf(cause)}.`, { cause });
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
    throw new Error('The URL of the database must have the form postgresql://user:password@host:5432/name.');
  }
  return `${url.pathname.slice(1)} at ${url.hostname}:${url.port || 5432}`;
}

function messageOf(cause: unknown): string {
  if (cause instanceof AggregateError) return cause.errors.map(messageOf).join(', '); // one per address of the host
  return cause instanceof Error ? cause.message : String(cause);
}

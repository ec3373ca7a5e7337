import pg from 'pg';
import { withConnection } from './migrations/connection.ts';

/** How connections to a database are opened: its URL, and the contents of the certificates and keys that it names. */
export interface DatabaseTarget {
  /** The URL without the parameters of `pg` for TLS and `options`. */
  readonly connectionString: string;
  readonly ssl: pg.ClientConfig['ssl'];
  readonly sslnegotiation?: 'direct' | 'postgres';
  readonly options: string;
}

/** The parameters of a URL that `pg` reads for TLS. It would read the files again for each connection. */
const TLS_PARAMETERS = ['ssl', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'sslnegotiation', 'uselibpqcompat'];

/** Reads the files that the URL of a database names. All sessions have the time zone UTC. */
export function readTarget(databaseUrl: string): DatabaseTarget {
  // `pg` has the settings for TLS in a member that its types describe as a boolean.
  const ssl = new pg.Client({ connectionString: databaseUrl }).ssl as unknown as pg.ClientConfig['ssl'];
  const url = new URL(databaseUrl);
  const options = url.searchParams.get('options');
  const negotiation = url.searchParams.get('sslnegotiation');
  // `pg` would prefer them to the members of this object.
  for (const name of ['options', ...TLS_PARAMETERS]) url.searchParams.delete(name);
  return {
    connectionString: url.href,
    ssl,
    ...(negotiation === 'direct' ? { sslnegotiation: negotiation } : {}),
    options: `${options ? `${options} ` : ''}-c TimeZone=UTC`,
  };
}

/**
 * The target for a URL that replaces another one while the service runs. It must be the same database: only the role,
 * its password and TLS can change. The database must accept a connection.
 * @throws Error with a sentence for operators, without a password
 */
export async function readReplacement(before: string, after: string): Promise<DatabaseTarget> {
  if (placeOf(before) !== placeOf(after))
    throw new Error('DATABASE_URL: only the role, its password and TLS can change without a restart');
  const target = readTarget(after);
  await withConnection(after, (client) => client.query('SELECT 1'), target).catch((cause: unknown) => {
    throw new Error(`DATABASE_URL: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  });
  return target;
}

/** A URL without what can change. */
function placeOf(databaseUrl: string): string {
  const url = Object.assign(new URL(databaseUrl), { username: '', password: '' });
  for (const name of TLS_PARAMETERS) url.searchParams.delete(name);
  return url.href;
}

/** Lets pools open their further connections to another target. Existing connections remain until they are idle. */
export function retarget(pools: readonly pg.Pool[], target: DatabaseTarget): void {
  for (const pool of pools) Object.assign(pool.options, target);
}

import type { PoolConfig } from 'pg';
import { Connection } from './connection.ts';

export type PoolWishes = {
  connectionString: string;
  /** Connections at most. */
  max: number;
  /** With the wait for a connection it stays under the five seconds in which a request is answered, come what may. */
  statementTimeoutMs?: number;
  /** Never longer than the statement may take. */
  lockTimeoutMs?: number;
  /** For a new connection, and for a free one when all are busy. */
  connectTimeoutMs?: number;
  applicationName: string;
};

/**
 * The options of a pool whose every wait is bounded (pg waits for ever unless told otherwise) and whose sessions are in UTC
 * (Prisma's adapter takes every offset for +00). One place for Prisma and plain pg:
 * `new PrismaPg(poolOptions({ ... }), { onPoolError: log, onConnectionError: log })`, where the two take an Error: idle
 * and busy connections that were lost. A plain `new pg.Pool(...)` needs `.on('error', log)`, else a lost idle connection
 * ends the process.
 */
export function poolOptions({ statementTimeoutMs = 2500, connectTimeoutMs = 2000, ...wishes }: PoolWishes): PoolConfig {
  const address = new URL(wishes.connectionString);
  const asked = address.searchParams.get('options');
  address.searchParams.delete('options'); // pg would take these instead of ours
  return {
    Client: Connection,
    connectionString: address.href,
    application_name: wishes.applicationName,
    max: wishes.max,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + 250, // for a server that doesn't answer at all
    lock_timeout: Math.min(wishes.lockTimeoutMs ?? 2000, statementTimeoutMs),
    idle_in_transaction_session_timeout: 10_000,
    options: `${asked ? `${asked} ` : ''}-c TimeZone=UTC`,
  };
}

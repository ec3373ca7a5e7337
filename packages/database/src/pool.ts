import pg, { type PoolConfig } from 'pg';
import { Connection } from './connection.ts';
import { readTarget } from './target.ts';
import { traceQueries } from './traced-queries.ts';

export type PoolSettings = {
  connectionString: string;
  /** The maximum number of connections. */
  max: number;
  /**
   * Together with `connectTimeoutMs`, it must be less than the 5 seconds in which a request must be
   * completed.
   */
  statementTimeoutMs?: number;
  /** It is limited to `statementTimeoutMs`. */
  lockTimeoutMs?: number;
  /**
   * Timeout for a new connection, and for a free connection if all are in use. `connect_timeout` of
   * the URL, in seconds, can increase it.
   */
  connectTimeoutMs?: number;
  applicationName: string;
  /** A statement that each connection runs before all others. If it fails, the connection is not used. */
  atConnect?: string;
};

/** A request that waits longer has been given up by its client. */
const MAX_URL_TIMEOUT_MS = 60_000;

/** The timeouts of commands. A person waits for a command, and no request does. */
export const COMMAND_TIMEOUTS = {
  connectTimeoutMs: 10_000,
  lockTimeoutMs: 10_000,
  statementTimeoutMs: 10_000,
} as const satisfies Partial<PoolSettings>;

/**
 * The options of a pool with timeouts for all operations (pg has none by default), and with the
 * time zone UTC (Prisma's adapter reads every offset as +00). They are for Prisma and for plain pg:
 * `new PrismaPg(poolOptions({ ... }), { onPoolError: log, onConnectionError: log })`; the callbacks
 * receive the errors of idle and of busy connections that were lost. A plain `new pg.Pool(...)`
 * requires `.on('error', log)`, because otherwise a lost idle connection ends the process.
 */
export function poolOptions({
  statementTimeoutMs = 2500,
  connectTimeoutMs = 2000,
  atConnect,
  ...settings
}: PoolSettings): PoolConfig {
  const urlTimeoutMs = Number(new URL(settings.connectionString).searchParams.get('connect_timeout') ?? 0) * 1000;
  return {
    ...readTarget(settings.connectionString),
    Client: Connection,
    application_name: settings.applicationName,
    max: settings.max,
    connectionTimeoutMillis: Math.max(connectTimeoutMs, Math.min(urlTimeoutMs, MAX_URL_TIMEOUT_MS) || 0),
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + 250, // for a server that does not respond
    lock_timeout: Math.min(settings.lockTimeoutMs ?? 2000, statementTimeoutMs),
    idle_in_transaction_session_timeout: 10_000,
    ...(atConnect !== undefined && { onConnect: async (connection) => void (await connection.query(atConnect)) }),
  };
}

/** A pool with these options. Its statements belong to the traces of the requests that run them. */
export function createPool(settings: PoolSettings): pg.Pool {
  const pool = new pg.Pool(poolOptions(settings));
  traceQueries(pool);
  return pool;
}

/** The limits of transactions, in milliseconds. */
export interface TransactionLimits {
  /** The time for a connection. */
  readonly maxWait: number;
  readonly timeout: number;
}

/** With the timeouts of production. */
const TRANSACTION_LIMITS: TransactionLimits = { maxWait: 2000, timeout: 5000 };

/**
 * The limits of the transactions of Prisma on a pool, in milliseconds. A transaction can wait for a connection, and for
 * two of its statements, as long as the pool and its URL permit.
 */
export function transactionLimits({ options }: pg.Pool, least: Partial<TransactionLimits> = {}): TransactionLimits {
  const { maxWait, timeout } = { ...TRANSACTION_LIMITS, ...least };
  const ofUrl = new URL(options.connectionString ?? '').searchParams.get('statement_timeout');
  const statementTimeoutMs = Number(ofUrl ?? options.statement_timeout) || 0;
  return {
    maxWait: Math.max(maxWait, options.connectionTimeoutMillis ?? 0),
    timeout: Math.max(timeout, 2 * statementTimeoutMs),
  };
}

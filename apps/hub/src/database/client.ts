import { PrismaPg } from '@prisma/adapter-pg';
import {
  asDatabaseFailure,
  createPool,
  createReader,
  createStatementNames,
  type DatabaseTarget,
  type PoolSettings,
  type Reader,
  retarget,
  type SnapshotReader,
  type TransactionLimits,
  transactionLimits,
  translatingClient,
} from '@svc/database';
import type { PoolState } from '@svc/http';
import type pg from 'pg';
import { PrismaClient } from '../generated/prisma/client.ts';
import { constraintProblems } from './constraints.ts';

export interface Database {
  readonly client: PrismaClient;
  /**
   * For catalog writes, which wait for each other. A separate small pool keeps connections
   * available for readers.
   */
  readonly catalogWriter: PrismaClient;
  /**
   * For streamed responses, whose statements wait for each other and not for those of other
   * requests.
   */
  readonly catalogStreams: Reader;
  /** For reads of the catalog. It shares the connections of `client`. */
  readonly reader: SnapshotReader;
  /** For the check of the revision, which must not wait for other statements. */
  readonly revisionReader: Reader;
  /** The pools of connections, by the names of their purposes. */
  readonly pools: Readonly<Record<string, PoolState>>;
  /** Opens further connections to the same database in another way. */
  retarget(target: DatabaseTarget): void;
  close(): Promise<void>;
}

/**
 * The connections of a process by purpose. The shared connections serve all other statements; at
 * least three remain for them. Catalog writes wait for each other, so a second connection for them
 * only saves the time between two writes.
 */
const sharesOf = (connections: number) => {
  const writers = connections >= 8 ? 2 : 1;
  const streams = 1;
  const revision = 1;
  return { writers, streams, revision, shared: connections - writers - streams - revision };
};

/**
 * The number of statements that each connection keeps prepared. Filters create statements with
 * different texts.
 */
const MAX_PREPARED = 100;

/** A write to the catalog waits for those before it. */
const CATALOG_WRITE_MS = 8000;

/** A statement of a stream waits for those of all other streams. No request waits for it. */
const STREAM_WAIT_MS = 20_000;

export interface PoolLimits extends Pick<PoolSettings, 'connectTimeoutMs' | 'lockTimeoutMs' | 'statementTimeoutMs'> {
  /** The maximum number of connections of the process: `DATABASE_CONNECTIONS`. */
  readonly connections?: number;
  /** The timeout of the check of the revision, for its connection and for its statement. */
  readonly revisionTimeoutMs?: number;
}

/**
 * The timeouts of each pool. A request acquires a connection twice: to authenticate its caller, and
 * in its handler. Both waits and the longest statement together take less than five seconds. A
 * request waits for at most two checks of the revision, so their timeout leaves time for its other
 * statements.
 */
export const poolLimits = {
  connections: 16,
  connectTimeoutMs: 1000,
  lockTimeoutMs: 2000,
  revisionTimeoutMs: 750,
} as const satisfies PoolLimits;

/**
 * Opens the database of the hub. `onError` receives the errors of idle connections. Other errors
 * reject the query.
 */
export function openDatabase(
  connectionString: string,
  onError: (error: Error) => void,
  given: PoolLimits = {},
): Database {
  const onLost = (error: Error) => onError(asDatabaseFailure(error));
  const { connections, revisionTimeoutMs, ...limits } = { ...poolLimits, ...given };
  const openPool = (max: number, applicationName: string, own: Partial<PoolSettings> = {}) => {
    const pool = createPool({ connectionString, max, applicationName, ...limits, ...own });
    pool.on('error', onLost);
    return pool;
  };
  // The reads select all columns of subqueries only.
  const readerOf = (pool: pg.Pool) =>
    createReader(pool, { constraints: constraintProblems, nameOf: createStatementNames(MAX_PREPARED, () => true) });
  const clientOf = (pool: pg.Pool, least: Partial<TransactionLimits> = {}) =>
    translatingClient(
      new PrismaClient({
        adapter: new PrismaPg(pool, { onConnectionError: onLost }),
        transactionOptions: transactionLimits(pool, least),
      }),
      constraintProblems,
    );
  const shares = sharesOf(connections);
  const pools = {
    shared: openPool(shares.shared, 'hub'),
    writer: openPool(shares.writers, 'hub-catalog-writer'),
    streams: openPool(shares.streams, 'hub-catalog-streams', { connectTimeoutMs: STREAM_WAIT_MS }),
    revision: openPool(shares.revision, 'hub-revision', {
      connectTimeoutMs: revisionTimeoutMs,
      statementTimeoutMs: revisionTimeoutMs,
    }),
  };
  const clients = {
    client: clientOf(pools.shared),
    catalogWriter: clientOf(pools.writer, { timeout: CATALOG_WRITE_MS }),
  };
  return {
    ...clients,
    pools,
    reader: readerOf(pools.shared),
    catalogStreams: readerOf(pools.streams),
    revisionReader: readerOf(pools.revision),
    retarget: (target) => retarget(Object.values(pools), target),
    close: async () => {
      await Promise.all(Object.values(clients).map((client) => client.$disconnect()));
      await Promise.all(Object.values(pools).map((pool) => pool.end()));
    },
  };
}

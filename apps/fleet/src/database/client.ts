import { PrismaPg } from '@prisma/adapter-pg';
import {
  asDatabaseFailure,
  createPool,
  createReader,
  createStatementNames,
  type DatabaseTarget,
  type PoolSettings,
  type Reader,
  readTarget,
  retarget,
  type StatementNames,
  type Subscription,
  subscribe,
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
   * Single statements of the paths that each deployment takes. It shares the connections of
   * `client`.
   */
  readonly statements: Reader;
  /**
   * The search for due deployments. It has a connection of its own, on which PostgreSQL reads with indexes wherever it can: the plan
   * of the search outlives the small table for which it was made.
   */
  readonly search: Reader;
  /**
   * Writes the mirror. Syncs have their own connections and a longer timeout, because a page is
   * larger than the data of a request.
   */
  readonly mirrorWriter: PrismaClient;
  /**
   * Calls `onDue` when a deployment becomes due, whichever process made it so, except while the
   * connection is lost.
   */
  subscribeToDue(onDue: () => void): Subscription;
  /** The pools of connections, by the names of their purposes. */
  readonly pools: Readonly<Record<string, PoolState>>;
  /** Opens further connections to the same database in another way. */
  retarget(target: DatabaseTarget): void;
  close(): Promise<void>;
}

/**
 * The shares of the mirror, of searches and of notifications in the connections of a process. Requests and the reconciler use
 * the rest.
 */
const MIRROR_WRITERS = 2;
const SEARCHES = 1;
const NOTIFICATIONS = 1;
/** Of the trigger `deployment_due`. */
const DUE_CHANNEL = 'deployment_due';
/**
 * Delete after 0.2: this comment. The name differs from `fleet`, by which replicas of version 0.1.0
 * are recognized (deployments/values/seal-text.ts).
 */
const APPLICATION_NAME = 'fleet-service';
const MIRROR_POOL = { max: MIRROR_WRITERS, applicationName: 'fleet-mirror', statementTimeoutMs: 30_000 };

/**
 * The number of statements that each connection keeps prepared. Filters create statements with
 * different texts.
 */
const MAX_PREPARED = 500;

export interface PoolLimits extends Pick<PoolSettings, 'connectTimeoutMs' | 'lockTimeoutMs' | 'statementTimeoutMs'> {
  /** The maximum number of connections of the process: `DATABASE_CONNECTIONS`. */
  readonly connections?: number;
}

/**
 * The timeouts of each pool. A request acquires a connection twice: to authenticate, and to produce
 * its response. Including the longest statement, it takes less than five seconds.
 */
export const poolLimits = {
  connections: 16,
  connectTimeoutMs: 1000,
  lockTimeoutMs: 2000,
} as const satisfies PoolLimits;

/**
 * Opens the database of the fleet. `onError` receives errors of idle connections. Statements report
 * errors of their connections.
 */
export function openDatabase(
  connectionString: string,
  onError: (error: Error) => void,
  given: PoolLimits = {},
): Database {
  const onLost = (error: Error) => onError(asDatabaseFailure(error));
  let target = readTarget(connectionString);
  const { connections, ...limits } = { ...poolLimits, ...given };
  const openPool = (options: Omit<PoolSettings, 'connectionString'>) => {
    const pool = createPool({ connectionString, ...limits, ...options });
    pool.on('error', onLost);
    return pool;
  };
  const clientOf = (pool: pg.Pool, nameOf: StatementNames, least: Partial<TransactionLimits> = {}) => {
    const options = { onConnectionError: onLost, statementNameGenerator: nameOf };
    const adapter = new PrismaPg(pool, options);
    const client = new PrismaClient({ adapter, transactionOptions: transactionLimits(pool, least) });
    return translatingClient(client, constraintProblems);
  };
  const pools = {
    requests: openPool({
      max: connections - MIRROR_WRITERS - SEARCHES - NOTIFICATIONS,
      applicationName: APPLICATION_NAME,
    }),
    search: openPool({ max: SEARCHES, applicationName: 'fleet-search', atConnect: 'SET enable_seqscan = off' }),
    mirror: openPool(MIRROR_POOL),
  };
  const nameOf = createStatementNames(MAX_PREPARED);
  const readerOf = (pool: pg.Pool) => createReader(pool, { constraints: constraintProblems, nameOf });
  const client = clientOf(pools.requests, nameOf);
  const mirrorWriter = clientOf(pools.mirror, createStatementNames(MAX_PREPARED), { maxWait: 5000 });
  return {
    client,
    statements: readerOf(pools.requests),
    search: readerOf(pools.search),
    mirrorWriter,
    pools,
    subscribeToDue: (onDue) =>
      subscribe(DUE_CHANNEL, onDue, {
        target: () => target,
        applicationName: 'fleet-notifications',
        onError: onLost,
      }),
    retarget: (replacement) => {
      target = replacement;
      retarget(Object.values(pools), replacement);
    },
    close: async () => {
      await Promise.all([client.$disconnect(), mirrorWriter.$disconnect()]);
      await Promise.all(Object.values(pools).map((pool) => pool.end()));
    },
  };
}

import { PrismaPg } from '@prisma/adapter-pg';
import { type PoolSettings, poolOptions, translatingClient } from '@svc/database';
import { PrismaClient } from '../generated/prisma/client.ts';
import { constraintProblems } from './constraints.ts';

export interface Database {
  readonly client: PrismaClient;
  /** For catalog writes, which wait for each other. A separate small pool keeps connections available for readers. */
  readonly catalogWriter: PrismaClient;
  /** For streamed responses, whose statements wait for each other and not for those of other requests. */
  readonly catalogStreams: PrismaClient;
  close(): Promise<void>;
}

/** The shares of catalog writes and of streams in the connections of a process. All other statements use the rest. */
const CATALOG_WRITERS = 2;
const CATALOG_STREAMS = 1;

/** A statement of a stream waits for those of all other streams. No request waits for it. */
const STREAM_WAIT_MS = 20_000;

export interface PoolLimits extends Pick<PoolSettings, 'connectTimeoutMs' | 'lockTimeoutMs' | 'statementTimeoutMs'> {
  /** The maximum number of connections of the process: `DATABASE_CONNECTIONS`. */
  readonly connections?: number;
}

/**
 * The timeouts of each pool. A request acquires a connection twice: to authenticate its caller, and in its handler. Both
 * waits and the longest statement together take less than five seconds.
 */
export const poolLimits = {
  connections: 16,
  connectTimeoutMs: 1000,
  lockTimeoutMs: 2000,
} as const satisfies PoolLimits;

/** Opens the database of the hub. `onError` receives the errors of idle connections. Other errors reject the query. */
export function openDatabase(
  connectionString: string,
  onError: (error: Error) => void,
  { connections = poolLimits.connections, ...limits }: PoolLimits = poolLimits,
): Database {
  const connect = (max: number, applicationName: string, own: Partial<PoolSettings> = {}) => {
    const pool = poolOptions({ connectionString, max, applicationName, ...limits, ...own });
    const adapter = new PrismaPg(pool, { onPoolError: onError, onConnectionError: onError });
    return translatingClient(new PrismaClient({ adapter }), constraintProblems);
  };
  const client = connect(connections - CATALOG_WRITERS - CATALOG_STREAMS, 'hub');
  const catalogWriter = connect(CATALOG_WRITERS, 'hub-catalog-writer');
  const catalogStreams = connect(CATALOG_STREAMS, 'hub-catalog-streams', { connectTimeoutMs: STREAM_WAIT_MS });
  return {
    client,
    catalogWriter,
    catalogStreams,
    close: async () => {
      await Promise.all([client, catalogWriter, catalogStreams].map((pool) => pool.$disconnect()));
    },
  };
}

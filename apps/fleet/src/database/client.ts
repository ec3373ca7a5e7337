import { PrismaPg } from '@prisma/adapter-pg';
import { type PoolSettings, poolOptions, translatingClient } from '@svc/database';
import { PrismaClient } from '../generated/prisma/client.ts';
import { constraintProblems } from './constraints.ts';

export interface Database {
  readonly client: PrismaClient;
  /**
   * Writes the mirror. Syncs have their own connections and a longer timeout, because a page is larger than the data of
   * a request.
   */
  readonly mirrorWriter: PrismaClient;
  close(): Promise<void>;
}

const REQUEST_POOL = { max: 10, applicationName: 'fleet' };
const MIRROR_POOL = { max: 2, applicationName: 'fleet-mirror', statementTimeoutMs: 30_000 };

/**
 * The timeouts of each pool. A request acquires a connection twice: to authenticate, and to produce its response.
 * Including the longest statement, it takes less than five seconds.
 */
export const poolLimits = { connectTimeoutMs: 1000, lockTimeoutMs: 2000 } as const;

/**
 * Opens the database of the fleet. `onError` receives errors of idle connections. Statements report errors of their
 * connections.
 */
export function openDatabase(connectionString: string, onError: (error: Error) => void): Database {
  const connect = (options: Omit<PoolSettings, 'connectionString'>) => {
    const pool = poolOptions({ connectionString, ...poolLimits, ...options });
    const adapter = new PrismaPg(pool, { onPoolError: onError, onConnectionError: onError });
    return translatingClient(new PrismaClient({ adapter }), constraintProblems);
  };
  const client = connect(REQUEST_POOL);
  const mirrorWriter = connect(MIRROR_POOL);
  return {
    client,
    mirrorWriter,
    close: async () => {
      await Promise.all([client.$disconnect(), mirrorWriter.$disconnect()]);
    },
  };
}

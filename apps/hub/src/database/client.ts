import { PrismaPg } from '@prisma/adapter-pg';
import { type PoolWishes, poolOptions, translatingClient } from '@svc/database';
import { PrismaClient } from '../generated/prisma/client.ts';
import { constraintProblems } from './constraints.ts';

export interface Database {
  readonly client: PrismaClient;
  /** Writes of the catalog queue on its clock; a small pool of their own keeps them from starving the readers. */
  readonly catalogWriter: PrismaClient;
  close(): Promise<void>;
}

const READERS = 10;
const CATALOG_WRITERS = 2;

export type PoolLimits = Pick<PoolWishes, 'connectTimeoutMs' | 'lockTimeoutMs' | 'statementTimeoutMs'>;

/**
 * The longest waits of each pool. A request asks for a connection twice, to authenticate its caller and to answer. With the
 * longest statement after that it takes less than five seconds.
 */
export const poolLimits = { connectTimeoutMs: 1000, lockTimeoutMs: 2000 } as const satisfies PoolLimits;

/** The hub's database. `onError` receives the errors of idle connections; a request receives those of its own. */
export function openDatabase(
  connectionString: string,
  onError: (error: Error) => void,
  limits: PoolLimits = poolLimits,
): Database {
  const connect = (max: number, applicationName: string) => {
    const pool = poolOptions({ connectionString, max, applicationName, ...limits });
    const adapter = new PrismaPg(pool, { onPoolError: onError, onConnectionError: onError });
    return translatingClient(new PrismaClient({ adapter }), constraintProblems);
  };
  const client = connect(READERS, 'hub');
  const catalogWriter = connect(CATALOG_WRITERS, 'hub-catalog-writer');
  return {
    client,
    catalogWriter,
    close: async () => {
      await Promise.all([client.$disconnect(), catalogWriter.$disconnect()]);
    },
  };
}

import { PrismaPg } from '@prisma/adapter-pg';
import { poolOptions, translatingClient } from '@svc/database';
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

/**
 * What each pool waits for at most. A request asks for a connection twice, to know its caller and to answer: with the
 * longest statement after that it stays under five seconds.
 */
export const poolLimits = { connectTimeoutMs: 1000, lockTimeoutMs: 2000 } as const;

/** The hub's database. `onError` hears of idle connections that were lost; requests hear of theirs themselves. */
export function openDatabase(connectionString: string, onError: (error: Error) => void): Database {
  const connect = (max: number, applicationName: string) => {
    const pool = poolOptions({ connectionString, max, applicationName, ...poolLimits });
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

import { PrismaPg } from '@prisma/adapter-pg';
import { type PoolWishes, poolOptions, translatingClient } from '@svc/database';
import { PrismaClient } from '../generated/prisma/client.ts';
import { constraintProblems } from './constraints.ts';

export interface Database {
  readonly client: PrismaClient;
  /** Writes the mirror. A sync has connections of its own, and time: a page is larger than what a request moves. */
  readonly mirrorWriter: PrismaClient;
  close(): Promise<void>;
}

const REQUESTS = { max: 10, applicationName: 'fleet' };
const MIRROR = { max: 2, applicationName: 'fleet-mirror', statementTimeoutMs: 30_000 };

/**
 * What each pool waits for at most. A request asks for a connection twice, to know its caller and to answer: with the
 * longest statement after that it stays under five seconds.
 */
export const poolLimits = { connectTimeoutMs: 1000, lockTimeoutMs: 2000 } as const;

/** The fleet's database. `onError` hears of idle connections that were lost; requests hear of theirs themselves. */
export function openDatabase(connectionString: string, onError: (error: Error) => void): Database {
  const connect = (wishes: Omit<PoolWishes, 'connectionString'>) => {
    const pool = poolOptions({ connectionString, ...poolLimits, ...wishes });
    const adapter = new PrismaPg(pool, { onPoolError: onError, onConnectionError: onError });
    return translatingClient(new PrismaClient({ adapter }), constraintProblems);
  };
  const client = connect(REQUESTS);
  const mirrorWriter = connect(MIRROR);
  return {
    client,
    mirrorWriter,
    close: async () => {
      await Promise.all([client.$disconnect(), mirrorWriter.$disconnect()]);
    },
  };
}

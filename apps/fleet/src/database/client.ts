import { PrismaPg } from '@prisma/adapter-pg';
import { poolOptions } from '@svc/database';
import { PrismaClient } from '../generated/prisma/client.ts';

export interface Database {
  readonly client: PrismaClient;
  close(): Promise<void>;
}

const CONNECTIONS = 10;
const LOCK_TIMEOUT_MS = 2000;

/** The fleet's database. `onError` hears of idle connections that were lost; requests hear of theirs themselves. */
export function openDatabase(connectionString: string, onError: (error: Error) => void): Database {
  const pool = poolOptions({
    connectionString,
    max: CONNECTIONS,
    applicationName: 'fleet',
    lockTimeoutMs: LOCK_TIMEOUT_MS,
  });
  const client = new PrismaClient({
    adapter: new PrismaPg(pool, { onPoolError: onError, onConnectionError: onError }),
  });
  return { client, close: () => client.$disconnect() };
}

import { PrismaPg } from '@prisma/adapter-pg';
import { poolOptions } from '@svc/database';
import { PrismaClient } from '../generated/prisma/client.ts';

export interface Database {
  readonly client: PrismaClient;
  /** Writes of the catalog queue on its clock; a small pool of their own keeps them from starving the readers. */
  readonly catalogWriter: PrismaClient;
  close(): Promise<void>;
}

const READERS = 10;
const CATALOG_WRITERS = 2;
const LOCK_TIMEOUT_MS = 2000;

/** The hub's database. `onError` hears of idle connections that were lost; requests hear of theirs themselves. */
export function openDatabase(connectionString: string, onError: (error: Error) => void): Database {
  const connect = (max: number, applicationName: string) =>
    new PrismaClient({
      adapter: new PrismaPg(poolOptions({ connectionString, max, applicationName, lockTimeoutMs: LOCK_TIMEOUT_MS }), {
        onPoolError: onError,
        onConnectionError: onError,
      }),
    });
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

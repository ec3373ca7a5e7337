import { connectionsBlocked, scaled } from '@svc/testing';
import type { Database } from '../../src/database/client.ts';
import type { Prisma } from '../../src/generated/prisma/client.ts';

interface Locked {
  /** Detects the session for which the work waits. */
  readonly transaction: Prisma.TransactionClient;
  readonly id: string;
}

/**
 * Locks the session in the middle, starts work, and acts when the work waits for that session.
 * @returns the work
 */
export function whileSessionIsLocked<T>(
  { client }: Database,
  start: () => T,
  act: (started: T, locked: Locked) => Promise<unknown>,
): Promise<T> {
  return client.$transaction(
    async (transaction) => {
      const sessions = await transaction.session.findMany({ select: { id: true }, orderBy: { id: 'asc' } });
      const { id } = sessions[Math.floor(sessions.length / 2)] ?? { id: '' };
      await transaction.$queryRaw`SELECT FROM sessions WHERE id = ${id}::uuid FOR UPDATE`;
      const started = start();
      await connectionsBlocked(transaction, 1); // the transaction would time out if it were idle for a long time
      await act(started, { transaction, id });
      return started;
    },
    { timeout: scaled(60_000) },
  );
}

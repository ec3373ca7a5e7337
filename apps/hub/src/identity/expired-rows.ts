import { type Log, type PeriodicTask, runPeriodically } from '@svc/http';
import type { Database } from '../database/client.ts';

/** Anonymous requests can begin sign-ins, so those that were not completed are deleted often. */
const INTERVAL_MS = 5 * 60_000;

interface ExpiredRowsOptions {
  readonly database: Pick<Database, 'client'>;
  readonly log: Log;
  /** Milliseconds between two rounds. */
  readonly interval?: number;
}

/**
 * Deletes sessions that ended, and sign-ins that were not completed. A failed deletion is repeated
 * in the next round.
 */
export const startDeletingExpiredRows = ({ database, log, interval = INTERVAL_MS }: ExpiredRowsOptions): PeriodicTask =>
  runPeriodically(Math.random() * interval, async () => {
    const { client } = database;
    try {
      await client.$executeRaw`DELETE FROM sign_in_transactions WHERE expires_at < now()`;
      await client.$executeRaw`DELETE FROM sessions WHERE least(ended_at, expires_at) < now() - interval '1 day'`;
    } catch (error) {
      log.warn({ err: error }, 'deleting expired sessions failed; will retry');
    }
    return interval;
  });

import { type Log, type PeriodicTask, runPeriodically } from '@svc/http';
import type { Database } from '../database/client.ts';

const HOUR_MS = 3_600_000;

interface RetentionOptions {
  readonly database: Database;
  /** Days for which audit entries are kept (`AUDIT_RETENTION_DAYS`). */
  readonly days: number;
  readonly log: Log;
  /** Milliseconds between two rounds. */
  readonly interval?: number;
}

/**
 * Deletes old audit entries within an hour of the start, and then hourly. A failed deletion is
 * repeated in the next round.
 */
export const startAuditRetention = ({ database, days, log, interval = HOUR_MS }: RetentionOptions): PeriodicTask =>
  runPeriodically(Math.random() * interval, async (stopped) => {
    try {
      const rows = await deleteOldEntries(database, days, stopped);
      if (rows > 0) log.info({ rows, days }, 'old audit entries deleted');
    } catch (error) {
      log.warn({ err: error }, 'deleting old audit entries failed; will retry');
    }
    return interval;
  });

/**
 * Deletes old audit entries in batches with `audit_forget`, which records each deletion as an
 * entry.
 * @returns the number of deleted entries
 */
async function deleteOldEntries({ client }: Database, days: number, stopped: AbortSignal): Promise<number> {
  let rows = 0;
  for (let batch = 1; batch > 0 && !stopped.aborted; rows += batch) {
    const [deleted] = await client.$queryRaw<{ count: number }[]>`
      SELECT audit_forget(now() - make_interval(days => ${days}::int), gen_random_uuid()) AS count`;
    batch = deleted?.count ?? 0;
  }
  return rows;
}

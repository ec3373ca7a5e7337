import { type Log, type PeriodicTask, runPeriodically } from '@svc/http';
import type { Database } from '../database/client.ts';
import { pruneEvents } from '../events/record.ts';
import { pruneChanges } from './history.ts';

const MINUTE_MS = 60_000;

/**
 * Deletes the changes and events beyond the bounds of their histories every minute. Replicas that
 * run at the same time delete each row once.
 */
export function startPruningChanges(database: Database, log: Log): PeriodicTask {
  return runPeriodically(Math.random() * MINUTE_MS, async (ending) => {
    try {
      const rows = await pruneChanges(database, ending);
      const events = await pruneEvents(database, ending);
      if (rows + events > 0) log.debug({ rows, events }, 'changes and events deleted');
    } catch (error) {
      log.warn({ err: error }, 'deleting changes and events failed; will retry');
    }
    return MINUTE_MS;
  });
}

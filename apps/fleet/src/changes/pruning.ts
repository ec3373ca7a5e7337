import { type Log, type PeriodicTask, runPeriodically } from '@svc/http';
import type { Database } from '../database/client.ts';
import { pruneChanges } from './history.ts';

const MINUTE_MS = 60_000;

/** Deletes the changes beyond the bounds of the history every minute. Replicas that run at the same time delete each row once. */
export function startPruningChanges(database: Database, log: Log): PeriodicTask {
  return runPeriodically(Math.random() * MINUTE_MS, async (ending) => {
    try {
      const rows = await pruneChanges(database, ending);
      if (rows > 0) log.debug({ rows }, 'changes deleted');
    } catch (error) {
      log.warn({ err: error }, 'deleting changes failed; will retry');
    }
    return MINUTE_MS;
  });
}

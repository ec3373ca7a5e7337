import { inRounds, type Log, type Rounds } from '@svc/http';
import type { Database } from '../database/client.ts';
import { pruneHistory } from './prune.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

interface PruningOptions {
  readonly database: Database;
  /** Retention of the history in days (`CATALOG_HISTORY_DAYS`). */
  readonly days: number;
  readonly log: Log;
}

/** Prunes the catalog history within an hour of the start, and then daily. Concurrent replicas share the work. */
export const startHistoryPruning = ({ database, days, log }: PruningOptions): Rounds =>
  inRounds(Math.random() * HOUR_MS, async () => {
    try {
      const rows = await pruneHistory(database, new Date(Date.now() - days * DAY_MS));
      if (rows > 0) log.info({ rows, days }, 'history pruned');
      return DAY_MS;
    } catch (error) {
      log.warn({ err: error }, 'history pruning failed; will retry in an hour'); // for example, the clock row is locked
      return HOUR_MS;
    }
  });

import { inRounds, type Log, type Rounds } from '@svc/http';
import type { Database } from '../database/client.ts';
import { pruneHistory } from './prune.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

interface Keeping {
  readonly database: Database;
  /** Days for which the past is known. */
  readonly days: number;
  readonly log: Log;
}

/** Prunes the catalog's history soon after the start and then daily. Replicas that do it at once share the work. */
export const keepHistory = ({ database, days, log }: Keeping): Rounds =>
  inRounds(Math.random() * HOUR_MS, async () => {
    try {
      const rows = await pruneHistory(database, new Date(Date.now() - days * DAY_MS));
      if (rows > 0) log.info({ rows, days }, 'history pruned');
      return DAY_MS;
    } catch (error) {
      log.warn({ err: error }, 'history could not be pruned; tried again in an hour'); // a writer may have held the clock
      return HOUR_MS;
    }
  });

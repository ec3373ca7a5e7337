import type { Log } from '@svc/http';
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
export function keepHistory({ database, days, log }: Keeping): { stop(): Promise<void> } {
  let running: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout;
  let stopped = false;
  const schedule = (delayMs: number) => {
    if (stopped) return;
    timer = setTimeout(() => {
      running = prune();
    }, delayMs);
    timer.unref();
  };
  const prune = async () => {
    try {
      const rows = await pruneHistory(database, new Date(Date.now() - days * DAY_MS));
      if (rows > 0) log.info({ rows, days }, 'history pruned');
      schedule(DAY_MS);
    } catch (error) {
      log.warn({ err: error }, 'history could not be pruned; tried again in an hour'); // a writer may have held the clock
      schedule(HOUR_MS);
    }
  };
  schedule(Math.random() * HOUR_MS);
  return {
    stop: () => {
      stopped = true;
      clearTimeout(timer);
      return running;
    },
  };
}

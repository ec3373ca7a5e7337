import { inRounds, type Log, type Rounds } from '@svc/http';
import type { Database } from '../database/client.ts';
import type { Hub } from './hub.ts';
import type { CatalogTimings } from './timings.ts';

/**
 * Seconds until a sync is due, over all replicas: at once where none was tried yet or where another hub or key was asked;
 * after a failure when the plan says so; else when the plan or the present interval says so, whichever is sooner.
 */
export async function dueIn({ client }: Database, { source }: Hub, intervalSeconds: number): Promise<number> {
  const [row] = await client.$queryRaw<{ seconds: number }[]>`
      SELECT greatest(0, extract(epoch FROM due - now()))::float8 AS seconds FROM (
        SELECT CASE
          WHEN catalog_sync.source IS DISTINCT FROM ${source} THEN now()
          WHEN failures > 0 THEN coalesce(next_at, now())
          ELSE least(next_at, last_success_at + make_interval(secs => ${intervalSeconds * 1.1}::float8))
        END AS due FROM catalog_sync) planned`;
  return row?.seconds ?? 0;
}

interface Scheduled {
  /** Seconds until the work is due; infinite while it never is. */
  readonly due: () => Promise<number>;
  readonly work: () => Promise<void>;
  readonly log: Log;
  readonly timings: CatalogTimings;
}

/** Works whenever it is due, until stopped. */
export function onSchedule({ due, work, log, timings }: Scheduled): Rounds {
  const worked = () =>
    work().then(
      () => true,
      (error: unknown) => {
        log.warn({ err: error }, 'the catalog could not be synced');
        return false;
      },
    );
  return inRounds(0, async () => {
    try {
      const succeeded = (await due()) > 0 || (await worked());
      const left = (await due()) * 1000;
      return Math.min(timings.recheck, Math.max(left, succeeded || left > 0 ? timings.shortest : timings.afterError));
    } catch (error) {
      log.warn({ err: error }, 'the plan of the next sync could not be read');
      return timings.afterError;
    }
  });
}

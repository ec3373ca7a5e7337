import { isUuid } from '../resources/kind.ts';
import type { ReconcilerContext } from './targets.ts';

/**
 * Maximum numbers of reported deployments that wait to be stored: of a target, and of all. Checks
 * find those beyond.
 */
const MAX_REPORTED = 1000;
const MAX_REPORTED_IN_TOTAL = 10_000;

/** Collects the deployments that watches report as changed, and makes them due. */
interface Changes {
  /** Reports that something of a deployment has changed on a target. The id can be any text. */
  report(targetId: string, deploymentId: string): void;
  /** Drops what was not stored yet. Resolves at the end of the statement in progress. */
  stop(): Promise<void>;
}

/**
 * Makes the reported deployments due with one statement per `collect` milliseconds, except
 * those that
 * - a worker is reconciling, or has reconciled since the report: then the fleet itself has probably
 *   made the change, and the result is known. A check finds changes that someone else has made at
 *   the same time;
 * - are due soon, or start, because they are reconciled again anyway. A rollout whose instances are ready waits for longer;
 * - failed in their last pass, because each failure increases the wait;
 * - are on another target.
 */
export function collectChanges({ database: { client }, log, timings }: ReconcilerContext): Changes {
  const seconds = timings.afterChange / 1000;
  /** By target: the times of the last reports about deployments, by the clock of `performance`. */
  const reported = new Map<string, Map<string, number>>();
  let total = 0;
  let timer: NodeJS.Timeout | undefined;
  let storing: Promise<void> = Promise.resolve();

  const store = async () => {
    const rows = [...reported].flatMap(([target, times]) => [...times].map(([id, at]) => ({ id, target, at })));
    reported.clear();
    total = 0;
    timer = undefined;
    const now = performance.now();
    const given = rows.map(({ id, target, at }) => ({ id, target, age: (now - at) / 1000 }));
    try {
      await client.$executeRaw`
        UPDATE deployments SET due_at = now() + make_interval(secs => ${seconds})
        WHERE id = ANY (ARRAY(
          SELECT d.id FROM jsonb_to_recordset(${JSON.stringify(given)}::jsonb) AS reported (id uuid, target uuid, age float8)
            JOIN deployments d ON d.id = reported.id AND reported.target IN (d.host_id, d.cluster_id)
          WHERE d.due_at > now() + make_interval(secs => ${seconds}) AND d.lease_owner IS NULL AND d.failures = 0
            AND (d.phase <> 'starting' OR d.rollout->>'ready_since' IS NOT NULL) AND d.observed_at < now() - make_interval(secs => reported.age)
          FOR UPDATE OF d SKIP LOCKED))`;
    } catch (error) {
      log.warn(
        { err: error, deployments: rows.length },
        'scheduling changed deployments failed; a check will find them',
      );
    }
  };
  return {
    report: (targetId, deploymentId) => {
      if (!isUuid(deploymentId)) return;
      const times = reported.get(targetId) ?? new Map<string, number>();
      if (!times.has(deploymentId)) {
        if (times.size >= MAX_REPORTED || total >= MAX_REPORTED_IN_TOTAL) return;
        total += 1;
      }
      reported.set(targetId, times.set(deploymentId, performance.now()));
      timer ??= setTimeout(() => {
        storing = storing.then(store);
      }, timings.collect);
    },
    stop: () => {
      clearTimeout(timer);
      return storing;
    },
  };
}

import { setTimeout as pause } from 'node:timers/promises';
import type { Target } from '@svc/contract/fleet';
import type { Database } from '../../database/client.ts';
import type { ReconcilerTimings } from '../timings.ts';

/** Thrown by an attempt that can succeed after the first check of one of these targets. */
export class UncheckedTargets extends Error {
  override name = 'UncheckedTargets';
  readonly targets: readonly Target[];
  constructor(targets: readonly Target[]) {
    super('the first check of a target has not finished');
    this.targets = targets;
  }
}

/** Maximum number of requests of this process that wait at the same time. Others do not wait. */
const MAX_WAITING = 16;

/**
 * Runs an attempt. While it throws `UncheckedTargets`, it is repeated after one of these targets
 * was checked, by any replica, or was deleted. The last attempt, at the latest after `firstCheck`,
 * has `canWait` false and must not throw `UncheckedTargets`. Between two attempts, a request holds
 * neither a lock nor a database connection.
 */
export type AfterFirstChecks = <T>(attempt: (canWait: boolean) => Promise<T>) => Promise<T>;

export function createFirstChecks(
  { client }: Database,
  { firstCheck, firstCheckPoll }: Pick<ReconcilerTimings, 'firstCheck' | 'firstCheckPoll'>,
): AfterFirstChecks {
  let waiting = 0;

  /** Waits until fewer of the targets are unchecked, or until the time has come. */
  const nextCheck = async (targets: readonly Target[], until: number): Promise<void> => {
    const idsOf = (kind: Target['kind']) => targets.filter((target) => target.kind === kind).map(({ id }) => id);
    while (Date.now() < until) {
      await pause(Math.min(firstCheckPoll, until - Date.now()));
      const [row] = await client.$queryRaw<{ unchecked: number }[]>`
        SELECT (SELECT count(*) FROM hosts WHERE id = ANY (${idsOf('host')}::uuid[]) AND reachability = 'unknown')::int
             + (SELECT count(*) FROM clusters WHERE id = ANY (${idsOf('cluster')}::uuid[]) AND reachability = 'unknown')::int
          AS unchecked`;
      if ((row?.unchecked ?? 0) < targets.length) return;
    }
  };

  return async (attempt) => {
    const until = Date.now() + firstCheck;
    while (Date.now() < until) {
      try {
        return await attempt(true);
      } catch (error) {
        if (!(error instanceof UncheckedTargets)) throw error;
        if (waiting >= MAX_WAITING) break;
        waiting++;
        await nextCheck(error.targets, until).finally(() => waiting--);
      }
    }
    return attempt(false);
  };
}

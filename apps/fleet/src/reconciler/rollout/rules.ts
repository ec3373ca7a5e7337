import { isOpen, newRollout, type StoredRollout } from '../../deployments/updates/rollout.ts';
import type { RolloutRules } from '../../engines/docker/containers.ts';
import type { ClaimedRow } from '../queue.ts';
import type { ReconcilerTimings } from '../timings.ts';
import { timeUntilProven } from './state.ts';

type Row = Pick<
  ClaimedRow,
  'generation' | 'observed_generation' | 'rollout' | 'replicas' | 'updates' | 'cluster_id' | 'now'
>;

/** How the rollout of a deployment on a host replaces outdated containers; undefined if none is in progress. */
export function rolloutRules(row: Row, { drain }: Pick<ReconcilerTimings, 'drain'>): RolloutRules | undefined {
  const rollout = rolloutOf(row);
  if (!rollout) return undefined;
  const provenInMs = timeUntilProven(row, rollout);
  const isGone = (since: string) => row.now.getTime() - new Date(since).getTime() >= drain;
  return {
    replicas: row.replicas,
    isReturn: rollout.failed_generation !== null,
    isHeld: rollout.state === 'held' || rollout.state === 'returning',
    isProven: provenInMs !== undefined && provenInMs <= 0,
    withdrawn: Object.entries(rollout.leaving).flatMap(([name, since]) => (isGone(since) ? [name] : [])),
  };
}

/** The rollout in progress, also one that begins with this pass, and a return that has failed and is tried all the same. */
function rolloutOf({ generation, observed_generation, rollout }: Row): StoredRollout | undefined {
  if (rollout?.generation === generation) return isOpen(rollout) || rollout.state === 'failed' ? rollout : undefined;
  return observed_generation === generation ? undefined : newRollout(generation);
}

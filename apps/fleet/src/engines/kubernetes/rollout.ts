import type { V1Deployment, V1Pod, V1ReplicaSet } from '@kubernetes/client-node';
import { cut, oneLine } from '../words.ts';
import type { Seen } from './look.ts';
import { isActive } from './pods.ts';
import type { Standing } from './standings.ts';
import { calm, fallen, type Verdict } from './verdict.ts';

const REVISION = 'deployment.kubernetes.io/revision';
const TEMPLATE = 'pod-template-hash';

/** The hash of the template that a Deployment rolls out now; undefined until its ReplicaSet is there. */
function templateOf({ metadata }: V1Deployment, replicaSets: readonly V1ReplicaSet[]): string | undefined {
  const revision = metadata?.annotations?.[REVISION];
  const current = replicaSets.find(
    (it) =>
      revision !== undefined &&
      it.metadata?.annotations?.[REVISION] === revision &&
      it.metadata.ownerReferences?.some(({ uid }) => uid === metadata?.uid),
  );
  return current?.metadata?.labels?.[TEMPLATE];
}

const isOf = ({ metadata }: V1Pod, template: string | undefined): boolean =>
  template !== undefined && metadata?.labels?.[TEMPLATE] === template;

/** Whether its controller has seen what is wanted now: else all that it says is of something else. */
const isSeen = ({ metadata, status }: V1Deployment): boolean =>
  (status?.observedGeneration ?? 0) >= (metadata?.generation ?? 0);

/** Whether its controller says that all of it is there, and nothing else. */
function isSettled({ status, spec }: V1Deployment): boolean {
  const wanted = spec?.replicas ?? 1;
  const { replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = status ?? {};
  return [replicas, updatedReplicas, availableReplicas].every((count) => count === wanted);
}

interface Around extends Pick<Seen, 'replicaSets'> {
  /** What has not moved since then has come to a halt. */
  readonly quietSince: number;
  readonly clean: (text: string) => string;
}

/** What is known of a rollout. */
interface Rollout {
  readonly deployment: V1Deployment;
  readonly wanted: number;
  readonly fine: number;
  readonly outdated: number;
  readonly leaving: readonly Standing[];
  readonly count: string;
  readonly anyRuns: boolean;
  readonly current: readonly Standing[];
  /** Nothing has moved for a while. */
  readonly isQuiet: boolean;
  readonly clean: (text: string) => string;
}

/**
 * How a Deployment stands. It runs when its controller has seen the last change and counts all of its pods as available,
 * when each of them says itself that it has been ready for as long as that takes, and when none is left that is of an
 * older template: one of these alone is green for a moment after every disturbance.
 */
export function verdictOnDeployment(
  deployment: V1Deployment,
  { replicaSets, quietSince, clean }: Around,
  standings: readonly Standing[],
): Verdict {
  const template = templateOf(deployment, replicaSets);
  const active = standings.filter(({ pod }) => isActive(pod));
  const current = active.filter(({ pod }) => isOf(pod, template));
  const leaving = standings.filter(({ state }) => state.phase === 'stopping');
  const fine = current.filter(({ state }) => state.phase === 'running').length;
  const outdated = active.length - current.length;
  const wanted = deployment.spec?.replicas ?? 1;
  const count = `${fine} of ${wanted} up${outdated > 0 ? `, ${outdated} still to be replaced` : ''}.`;
  const anyRuns = active.some(({ state }) => state.phase === 'running');
  const isQuiet = lastMoveOf(deployment, active) < quietSince;
  return verdict({ deployment, wanted, fine, outdated, leaving, count, anyRuns, current, isQuiet, clean });
}

/** When anything was last heard of a rollout: a pod was made or ready, or its controller got on. */
function lastMoveOf(deployment: V1Deployment, active: readonly Standing[]): number {
  const moments = active.flatMap(({ pod }) => [
    pod.metadata?.creationTimestamp,
    ...(pod.status?.conditions ?? []).map(({ lastTransitionTime }) => lastTransitionTime),
  ]);
  const progress = conditionOf(deployment, 'Progressing')?.lastUpdateTime;
  return Math.max(0, ...[...moments, progress].map((moment) => moment?.getTime() ?? 0));
}

function verdict(rollout: Rollout): Verdict {
  const { deployment, wanted, count, anyRuns, current, leaving, fine, outdated, isQuiet } = rollout;
  if (!isSeen(deployment)) return calm('starting', count, 'soon');
  const down = current.find(({ state }) => state.reason !== null);
  if (down) return fallen(down, { anyRuns, count });
  const refused = refusedPods(rollout) ?? late(rollout);
  if (refused) return refused;
  const isThere = fine === wanted && outdated === 0 && isSettled(deployment);
  if (!isThere) return calm('starting', count, isQuiet ? 'settled' : 'soon');
  const [stuck] = leaving.filter(({ isStuck }) => isStuck);
  if (stuck) return calm('degraded', `${stuck.name} should be gone, and its node does not say that it is. ${count}`);
  if (leaving.length > 0) return calm(wanted === 0 ? 'stopping' : 'starting', count, 'soon');
  return wanted === 0 ? calm('stopped', 'Nothing of it is to run.') : calm('running', count);
}

const conditionOf = ({ status }: V1Deployment, type: string) =>
  status?.conditions?.find((condition) => condition.type === type);

/** Its pods can't even be made. */
function refusedPods({ deployment, anyRuns, count, clean }: Rollout): Verdict | undefined {
  const condition = conditionOf(deployment, 'ReplicaFailure');
  if (condition?.status !== 'True') return undefined;
  const said = cut(clean(oneLine(condition.message ?? '')));
  const reason = /exceeded quota/.test(said) ? 'Unschedulable' : 'InvalidSpec';
  const message = `Its cluster does not let its pods be made: ${said} ${count}`;
  return { phase: anyRuns ? 'degraded' : 'retrying', reason, message, next: 'retry' };
}

/** Nothing went on for as long as it may. */
function late({ deployment, anyRuns, count }: Rollout): Verdict | undefined {
  const condition = conditionOf(deployment, 'Progressing');
  if (condition?.reason !== 'ProgressDeadlineExceeded') return undefined;
  const message = `It did not come up in the time that it was given. ${count}`;
  return { phase: anyRuns ? 'degraded' : 'failed', reason: 'DeadlineExceeded', message, next: 'settled' };
}

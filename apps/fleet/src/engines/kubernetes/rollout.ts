import type { V1Deployment, V1Job, V1Pod, V1ReplicaSet } from '@kubernetes/client-node';
import { type EngineFailure, Permanent } from '../errors.ts';
import type { Observation } from '../observation.ts';
import { cut, oneLine, sentenceOf } from '../redact.ts';
import type { Standing } from './instances.ts';
import type { Seen } from './objects.ts';
import { isActive } from './pod-status.ts';

/** How a deployment stands, in short. */
export type Verdict = Pick<Observation, 'phase' | 'reason' | 'message' | 'next'>;

/** Nothing is wrong with it. */
export const calm = (phase: Verdict['phase'], message: string, next: Verdict['next'] = 'settled'): Verdict => ({
  phase,
  reason: null,
  message,
  next,
});

interface StatusScope {
  /** Something of it runs. */
  readonly anyRuns: boolean;
  readonly clean: (text: string) => string;
}

/** Something went wrong with the pass itself. */
export function troubled(trouble: EngineFailure, { anyRuns, clean }: StatusScope): Verdict {
  const isForGood = trouble instanceof Permanent;
  return {
    phase: anyRuns ? 'degraded' : isForGood ? 'failed' : 'retrying',
    reason: trouble.reason,
    message: sentenceOf(trouble, clean),
    next: isForGood ? 'settled' : 'retry',
  };
}

/** One of its pods does not come up. */
function fallen(
  { name, state }: Standing,
  { anyRuns, count }: { readonly anyRuns: boolean; readonly count: string },
): Verdict {
  const isForGood = state.isForGood === true;
  return {
    phase: anyRuns ? 'degraded' : isForGood ? 'failed' : 'retrying',
    reason: state.reason,
    message: `${name} ${state.message}. ${count}`,
    next: isForGood ? 'settled' : 'retry',
  };
}

const isTrue = ({ status }: V1Job, type: string): boolean =>
  status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') === true;

/** How a Job stands. */
export function verdictOnJob(job: V1Job, standings: readonly Standing[]): Verdict {
  if (isTrue(job, 'Complete')) return calm('stopped', 'Its work is done.');
  if (isTrue(job, 'Failed')) return failed(job, standings);
  const active = standings.filter(({ pod }) => isActive(pod));
  if (job.spec?.suspend === true) {
    return standings.some(({ state }) => state.phase !== 'completed' && state.phase !== 'failed')
      ? calm('stopping', `${active.length} still to be stopped.`, 'soon')
      : calm('stopped', 'Nothing of it is to run.');
  }
  const wanted = job.spec?.completions ?? 1;
  const running = active.filter(({ state }) => state.phase === 'running').length;
  const done = standings.filter(({ state }) => state.phase === 'completed').length;
  const count = `${running} of ${wanted} up${done > 0 ? `, ${done} done` : ''}.`;
  const down = active.find(({ state }) => state.reason !== null);
  if (down) return fallen(down, { anyRuns: running > 0, count });
  const isThere = running > 0 && running + done === wanted && standings.length === wanted;
  return isThere ? calm('running', count) : calm('starting', count, 'soon');
}

function failed({ status }: V1Job, standings: readonly Standing[]): Verdict {
  const condition = status?.conditions?.find(({ type }) => type === 'Failed');
  const next = 'settled';
  if (condition?.reason === 'DeadlineExceeded') {
    const message = 'It did not end in the time that it was given.';
    return { phase: 'failed', reason: 'DeadlineExceeded', message, next };
  }
  const worst = standings.find(({ state }) => state.phase === 'failed');
  const message = worst ? `${worst.name} ${worst.state.message}.` : 'It has failed.';
  return { phase: 'failed', reason: worst?.state.reason ?? 'JobFailed', message, next };
}

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

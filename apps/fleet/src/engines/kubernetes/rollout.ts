import type { V1Deployment, V1Job, V1Pod, V1ReplicaSet } from '@kubernetes/client-node';
import { type EngineFailure, Permanent } from '../errors.ts';
import type { Observation } from '../observation.ts';
import { describeFailure, oneLine, truncate } from '../redact.ts';
import type { PodStatus } from './instances.ts';
import type { ObservedObjects } from './objects.ts';
import { isActive } from './pod-status.ts';

/** The summary of the state of a deployment. */
export type DeploymentStatus = Pick<Observation, 'phase' | 'reason' | 'message' | 'next'>;

/** A status without a failure. */
export const withoutFailure = (
  phase: DeploymentStatus['phase'],
  message: string,
  next: DeploymentStatus['next'] = 'settled',
): DeploymentStatus => ({
  phase,
  reason: null,
  message,
  next,
});

interface StatusScope {
  /** Whether at least one pod is running. */
  readonly anyRuns: boolean;
  readonly redact: (text: string) => string;
}

/** The status if the reconciliation itself failed. */
export function failureStatus(failure: EngineFailure, { anyRuns, redact }: StatusScope): DeploymentStatus {
  const isPermanent = failure instanceof Permanent;
  return {
    phase: anyRuns ? 'degraded' : isPermanent ? 'failed' : 'retrying',
    reason: failure.reason,
    message: describeFailure(failure, redact),
    next: isPermanent ? 'settled' : 'retry',
  };
}

/** The status if a pod does not start. */
function podFailureStatus(
  { name, state }: PodStatus,
  { anyRuns, count }: { readonly anyRuns: boolean; readonly count: string },
): DeploymentStatus {
  const isPermanent = state.isPermanent === true;
  return {
    phase: anyRuns ? 'degraded' : isPermanent ? 'failed' : 'retrying',
    reason: state.reason,
    message: `${name} ${state.message}. ${count}`,
    next: isPermanent ? 'settled' : 'retry',
  };
}

const isTrue = ({ status }: V1Job, type: string): boolean =>
  status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') === true;

/** The status of a Job. */
export function jobStatus(job: V1Job, podStatuses: readonly PodStatus[]): DeploymentStatus {
  if (isTrue(job, 'Complete')) return withoutFailure('stopped', 'It has completed.');
  if (isTrue(job, 'Failed')) return failedJobStatus(job, podStatuses);
  const active = podStatuses.filter(({ pod }) => isActive(pod));
  if (job.spec?.suspend === true) {
    return podStatuses.some(({ state }) => state.phase !== 'completed' && state.phase !== 'failed')
      ? withoutFailure('stopping', `Pods still stopping: ${active.length}.`, 'soon')
      : withoutFailure('stopped', 'It is scaled to 0 replicas.');
  }
  const desired = job.spec?.completions ?? 1;
  const running = active.filter(({ state }) => state.phase === 'running').length;
  const done = podStatuses.filter(({ state }) => state.phase === 'completed').length;
  const count = `${running} of ${desired} up${done > 0 ? `, ${done} done` : ''}.`;
  const down = active.find(({ state }) => state.reason !== null);
  if (down) return podFailureStatus(down, { anyRuns: running > 0, count });
  const isComplete = running > 0 && running + done === desired && podStatuses.length === desired;
  return isComplete ? withoutFailure('running', count) : withoutFailure('starting', count, 'soon');
}

function failedJobStatus({ status }: V1Job, podStatuses: readonly PodStatus[]): DeploymentStatus {
  const condition = status?.conditions?.find(({ type }) => type === 'Failed');
  const next = 'settled';
  if (condition?.reason === 'DeadlineExceeded') {
    const message = 'It did not complete before its deadline.';
    return { phase: 'failed', reason: 'DeadlineExceeded', message, next };
  }
  const worst = podStatuses.find(({ state }) => state.phase === 'failed');
  const message = worst ? `${worst.name} ${worst.state.message}.` : 'It has failed.';
  return { phase: 'failed', reason: worst?.state.reason ?? 'JobFailed', message, next };
}

const REVISION = 'deployment.kubernetes.io/revision';
const TEMPLATE = 'pod-template-hash';

/** The hash of the pod template that a Deployment currently rolls out; undefined until its ReplicaSet exists. */
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

/** Whether the controller has observed the current spec. Otherwise the status describes an earlier spec. */
const isObserved = ({ metadata, status }: V1Deployment): boolean =>
  (status?.observedGeneration ?? 0) >= (metadata?.generation ?? 0);

/** Whether the controller reports that exactly the desired replicas exist, updated and available. */
function isSettled({ status, spec }: V1Deployment): boolean {
  const desired = spec?.replicas ?? 1;
  const { replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = status ?? {};
  return [replicas, updatedReplicas, availableReplicas].every((count) => count === desired);
}

interface RolloutContext extends Pick<ObservedObjects, 'replicaSets'> {
  /** A rollout without progress since this time is stalled. Milliseconds since the epoch. */
  readonly stalledSince: number;
  readonly redact: (text: string) => string;
}

/** The observed state of a rollout. */
interface Rollout {
  readonly deployment: V1Deployment;
  readonly desired: number;
  readonly available: number;
  readonly outdated: number;
  readonly terminating: readonly PodStatus[];
  readonly count: string;
  readonly anyRuns: boolean;
  readonly current: readonly PodStatus[];
  /** Whether there was no progress for a while. */
  readonly isStalled: boolean;
  readonly redact: (text: string) => string;
}

/**
 * The status of a Deployment. It is running if its controller has observed the last change and counts all pods as
 * available, if each pod has been ready for the required time, and if no pod of an older template is left. Each of
 * these conditions alone can be true for a moment after a disturbance.
 */
export function deploymentStatus(
  deployment: V1Deployment,
  { replicaSets, stalledSince, redact }: RolloutContext,
  podStatuses: readonly PodStatus[],
): DeploymentStatus {
  const template = templateOf(deployment, replicaSets);
  const active = podStatuses.filter(({ pod }) => isActive(pod));
  const current = active.filter(({ pod }) => isOf(pod, template));
  const terminating = podStatuses.filter(({ state }) => state.phase === 'stopping');
  const available = current.filter(({ state }) => state.phase === 'running').length;
  const outdated = active.length - current.length;
  const desired = deployment.spec?.replicas ?? 1;
  const count = `${available} of ${desired} up${outdated > 0 ? `, ${outdated} still to be replaced` : ''}.`;
  const anyRuns = active.some(({ state }) => state.phase === 'running');
  const isStalled = lastProgressOf(deployment, active) < stalledSince;
  return rolloutStatus({
    deployment,
    desired,
    available,
    outdated,
    terminating,
    count,
    anyRuns,
    current,
    isStalled,
    redact,
  });
}

/**
 * The time of the last progress: a pod was created, a condition of a pod changed, or the controller reported progress.
 */
function lastProgressOf(deployment: V1Deployment, active: readonly PodStatus[]): number {
  const times = active.flatMap(({ pod }) => [
    pod.metadata?.creationTimestamp,
    ...(pod.status?.conditions ?? []).map(({ lastTransitionTime }) => lastTransitionTime),
  ]);
  const progress = conditionOf(deployment, 'Progressing')?.lastUpdateTime;
  return Math.max(0, ...[...times, progress].map((time) => time?.getTime() ?? 0));
}

function rolloutStatus(rollout: Rollout): DeploymentStatus {
  const { deployment, desired, count, anyRuns, current, terminating, available, outdated, isStalled } = rollout;
  if (!isObserved(deployment)) return withoutFailure('starting', count, 'soon');
  const down = current.find(({ state }) => state.reason !== null);
  if (down) return podFailureStatus(down, { anyRuns, count });
  const failed = replicaFailureStatus(rollout) ?? deadlineStatus(rollout);
  if (failed) return failed;
  const isComplete = available === desired && outdated === 0 && isSettled(deployment);
  if (!isComplete) return withoutFailure('starting', count, isStalled ? 'settled' : 'soon');
  const [stuck] = terminating.filter(({ isStuck }) => isStuck);
  if (stuck)
    return withoutFailure(
      'degraded',
      `The termination of ${stuck.name} is overdue, and its node has not confirmed it. ${count}`,
    );
  if (terminating.length > 0) return withoutFailure(desired === 0 ? 'stopping' : 'starting', count, 'soon');
  return desired === 0 ? withoutFailure('stopped', 'It is scaled to 0 replicas.') : withoutFailure('running', count);
}

const conditionOf = ({ status }: V1Deployment, type: string) =>
  status?.conditions?.find((condition) => condition.type === type);

/** The status if the pods cannot be created. */
function replicaFailureStatus({ deployment, anyRuns, count, redact }: Rollout): DeploymentStatus | undefined {
  const condition = conditionOf(deployment, 'ReplicaFailure');
  if (condition?.status !== 'True') return undefined;
  const engineMessage = truncate(redact(oneLine(condition.message ?? '')));
  const reason = /exceeded quota/.test(engineMessage) ? 'Unschedulable' : 'InvalidSpec';
  const message = `The cluster rejects its pods: ${engineMessage} ${count}`;
  return { phase: anyRuns ? 'degraded' : 'retrying', reason, message, next: 'retry' };
}

/** The status if the rollout made no progress within its deadline. */
function deadlineStatus({ deployment, anyRuns, count }: Rollout): DeploymentStatus | undefined {
  const condition = conditionOf(deployment, 'Progressing');
  if (condition?.reason !== 'ProgressDeadlineExceeded') return undefined;
  const message = `It did not become available before its progress deadline. ${count}`;
  return { phase: anyRuns ? 'degraded' : 'failed', reason: 'DeadlineExceeded', message, next: 'settled' };
}

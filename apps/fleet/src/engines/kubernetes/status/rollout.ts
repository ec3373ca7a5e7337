import type { V1Deployment, V1Job, V1Pod, V1ReplicaSet } from '@kubernetes/client-node';
import {
  type DeploymentStatus,
  type InstanceCounts,
  messageOfCounts,
  statusOfCounts,
  withFailure,
  withoutFailure,
} from '../../deployment-status.ts';
import { isCrashReason, type Reason } from '../../errors.ts';
import { oneLine, truncate } from '../../redact.ts';
import { failedWebhookIn, withoutPreamble } from '../errors.ts';
import type { ObservedObjects } from '../objects.ts';
import type { PodStatus } from './instances.ts';
import { isActive } from './pod-status.ts';

/** The status if a pod does not start. */
const podFailureStatus = (
  { name, state }: PodStatus,
  { anyRuns, counts, isService }: Pick<Rollout, 'anyRuns' | 'counts'> & { readonly isService: boolean },
): DeploymentStatus =>
  withFailure({
    reason: state.reason,
    message: `${name} ${state.message}. ${messageOfCounts(counts)}`,
    anyRuns,
    isPermanent: state.isPermanent === true,
    isCrash: isService && isCrashReason(state.reason),
  });

const isTrue = ({ status }: V1Job, type: string): boolean =>
  status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') === true;

/** The status of a Job. `warning` is the redacted last warning of the cluster about a Job without pods; '' if there is none. */
export function jobStatus(job: V1Job, podStatuses: readonly PodStatus[], warning = ''): DeploymentStatus {
  const programs = podStatuses.map(({ state }) => state.phase);
  const hasCompleted = programs.filter((phase) => phase === 'completed').length >= (job.spec?.completions ?? 1);
  if (isTrue(job, 'Complete') || hasCompleted) return withoutFailure('stopped', messageOfCompletion(podStatuses));
  if (isTrue(job, 'Failed') || programs.includes('failed')) return failedJobStatus(job, podStatuses);
  const active = podStatuses.filter(({ pod }) => isActive(pod));
  const numberOf = (phase: PodStatus['state']['phase']) =>
    podStatuses.filter(({ state }) => state.phase === phase).length;
  const up = numberOf('running');
  const completed = numberOf('completed');
  const desired = job.spec?.suspend === true ? 0 : (job.spec?.completions ?? 1);
  const ended = completed + numberOf('failed');
  const isComplete = up > 0 && up + completed === desired && podStatuses.length === desired;
  const counts: InstanceCounts = {
    desired,
    up,
    completed,
    outdated: 0,
    terminating: desired === 0 ? podStatuses.length - ended : 0,
    isChanging: desired > 0 && !isComplete,
  };
  // A Job has no condition for it, unlike a Deployment.
  if (warning !== '' && podStatuses.length === 0) return rejectedPodsStatus(warning, { anyRuns: false, counts });
  const down = desired > 0 ? active.find(({ state }) => state.reason !== null) : undefined;
  return down ? podFailureStatus(down, { anyRuns: up > 0, counts, isService: false }) : statusOfCounts(counts);
}

/** What a completed job states. A container that the cluster has added can continue to run. */
function messageOfCompletion(podStatuses: readonly PodStatus[]): string {
  const running = podStatuses.find(({ pod, state }) => state.phase === 'completed' && isActive(pod));
  return running ? `It has completed: ${running.name} ${running.state.message}.` : 'It has completed.';
}

function failedJobStatus({ status }: V1Job, podStatuses: readonly PodStatus[]): DeploymentStatus {
  const condition = status?.conditions?.find(({ type }) => type === 'Failed');
  const worst = podStatuses.find(({ state }) => state.phase === 'failed');
  const final = { anyRuns: false, isPermanent: true };
  if (condition?.reason === 'DeadlineExceeded') {
    return withFailure({ ...final, reason: 'DeadlineExceeded', message: 'It did not complete before its deadline.' });
  }
  const message = worst ? `${worst.name} ${worst.state.message}.` : 'It has failed.';
  return withFailure({ ...final, reason: worst?.state.reason ?? 'JobFailed', message });
}

const REVISION = 'deployment.kubernetes.io/revision';
const TEMPLATE = 'pod-template-hash';

/**
 * The hash of the pod template that a Deployment currently rolls out; undefined until its
 * ReplicaSet exists.
 */
function templateOf({ metadata }: V1Deployment, replicaSets: readonly V1ReplicaSet[]): string | undefined {
  const revision = metadata?.annotations?.[REVISION];
  const current = replicaSets.find(
    (replicaSet) =>
      revision !== undefined &&
      replicaSet.metadata?.annotations?.[REVISION] === revision &&
      replicaSet.metadata.ownerReferences?.some(({ uid }) => uid === metadata?.uid),
  );
  return current?.metadata?.labels?.[TEMPLATE];
}

const isOf = ({ metadata }: V1Pod, template: string | undefined): boolean =>
  template !== undefined && metadata?.labels?.[TEMPLATE] === template;

/**
 * Whether the controller has observed the current spec. Otherwise the status describes an earlier
 * spec.
 */
const isObserved = ({ metadata, status }: V1Deployment): boolean =>
  (status?.observedGeneration ?? 0) >= (metadata?.generation ?? 0);

/**
 * Whether the controller reports that exactly the desired replicas exist, updated and available.
 */
function isSettled({ status, spec }: V1Deployment): boolean {
  const desired = spec?.replicas ?? 1;
  const { replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = status ?? {};
  return [replicas, updatedReplicas, availableReplicas].every((count) => count === desired);
}

/** The pods of a Deployment that have its current template. */
export function podsOfTemplate(
  deployment: V1Deployment,
  { replicaSets, pods }: Pick<ObservedObjects, 'replicaSets' | 'pods'>,
): V1Pod[] {
  const template = templateOf(deployment, replicaSets);
  return pods.filter((pod) => isOf(pod, template));
}

/** What programs of the cluster may do that set the number of replicas. */
export interface OtherScalers {
  /** The number of replicas that must be up while they change it. */
  readonly minimum: number;
  /** Whether it is intended that they set the number, also to 0. */
  readonly isIntended: boolean;
}

interface RolloutContext extends Pick<ObservedObjects, 'replicaSets'> {
  readonly others: OtherScalers | undefined;
  /** A rollout without progress since this time is stalled. Milliseconds since the epoch. */
  readonly stalledSince: number;
  readonly redact: (text: string) => string;
}

/** The observed state of a rollout. */
interface Rollout {
  readonly deployment: V1Deployment;
  /** The pods of the current template that are not being deleted. */
  readonly current: readonly PodStatus[];
  readonly terminating: readonly PodStatus[];
  readonly counts: InstanceCounts;
  readonly anyRuns: boolean;
  readonly others: OtherScalers | undefined;
  /** Whether there was no progress for a while. */
  readonly isStalled: boolean;
  /** Whether the controller has not observed a change that was made a while ago. */
  readonly isOverlooked: boolean;
  readonly redact: (text: string) => string;
}

/**
 * The status of a Deployment. It is running if its controller has observed the last change and
 * counts all pods as available, if each pod has been ready for the required time, and if no pod of
 * an older template is left. Each of these conditions alone can be true for a moment after a
 * disturbance.
 */
export function deploymentStatus(
  deployment: V1Deployment,
  { replicaSets, others, stalledSince, redact }: RolloutContext,
  podStatuses: readonly PodStatus[],
): DeploymentStatus {
  const template = templateOf(deployment, replicaSets);
  const active = podStatuses.filter(({ pod }) => isActive(pod));
  const current = active.filter(({ pod }) => isOf(pod, template));
  const terminating = podStatuses.filter(({ state }) => state.phase === 'stopping');
  const counts = {
    desired: deployment.spec?.replicas ?? 1,
    up: current.filter(({ state }) => state.phase === 'running').length,
    completed: 0,
    outdated: active.length - current.length,
    terminating: terminating.length,
  };
  const isComplete = counts.up === counts.desired && counts.outdated === 0 && isSettled(deployment);
  return rolloutStatus({
    deployment,
    current,
    terminating,
    counts: { ...counts, isChanging: !isComplete },
    anyRuns: active.some(({ state }) => state.phase === 'running'),
    others,
    isStalled: lastProgressOf(deployment, active) < stalledSince,
    isOverlooked: !isObserved(deployment) && lastChangeOf(deployment) < stalledSince,
    redact,
  });
}

/**
 * The time of the last progress: a pod was created, a condition of a pod changed, or the controller
 * reported progress.
 */
function lastProgressOf(deployment: V1Deployment, active: readonly PodStatus[]): number {
  const times = active.flatMap(({ pod }) => [
    pod.metadata?.creationTimestamp,
    ...(pod.status?.conditions ?? []).map(({ lastTransitionTime }) => lastTransitionTime),
  ]);
  const progress = conditionOf(deployment, 'Progressing')?.lastUpdateTime;
  return Math.max(0, ...[...times, progress].map((time) => time?.getTime() ?? 0));
}

const OVERLOOKED = 'The controllers of the cluster have not observed its last change: check that they run. ';

/** The time of the last change of a Deployment by anybody, in milliseconds since the epoch. */
const lastChangeOf = ({ metadata }: V1Deployment): number =>
  Math.max(
    ...[metadata?.creationTimestamp, ...(metadata?.managedFields ?? []).map(({ time }) => time)].map(
      (time) => time?.getTime() ?? 0,
    ),
  );

function rolloutStatus(rollout: Rollout): DeploymentStatus {
  const { deployment, current, terminating, counts, anyRuns, isStalled } = rollout;
  if (!isObserved(deployment)) {
    return withoutFailure('starting', `${rollout.isOverlooked ? OVERLOOKED : ''}${messageOfCounts(counts)}`, 'soon');
  }
  const down = current.find(({ state }) => state.reason !== null);
  if (down) return podFailureStatus(down, { anyRuns, counts, isService: true });
  const failed = replicaFailureStatus(rollout) ?? deadlineStatus(rollout);
  if (failed) return failed;
  const unhealthy = counts.outdated === 0 ? current.find(({ state }) => state.phase === 'unhealthy') : undefined;
  if (unhealthy) {
    return withoutFailure('degraded', `${unhealthy.name} ${unhealthy.state.message}. ${messageOfCounts(counts)}`);
  }
  const status = withExplanation(statusOfCounts(counts), rollout);
  const scaled = rollout.others && statusOfScaled(counts, status, rollout.others);
  if (scaled) return scaled;
  if (counts.isChanging) return isStalled ? { ...status, next: 'settled' } : status;
  const stuck = terminating.find(({ isStuck }) => isStuck);
  if (!stuck) return status;
  const node = stuck.pod.spec?.nodeName;
  const overdue = `The termination of ${stuck.name} is overdue, and its node${node ? ` ${node}` : ''} has not confirmed it.`;
  return withoutFailure('degraded', `${overdue} ${messageOfCounts(counts)}`);
}

/** The status of a deployment that starts, with what a pod waits for if the cluster states it. */
function withExplanation(status: DeploymentStatus, { current }: Rollout): DeploymentStatus {
  const waiting = status.phase === 'starting' ? current.find(({ state }) => isExplained(state)) : undefined;
  if (!waiting) return status;
  return {
    ...status,
    message: `${waiting.name} ${waiting.state.message}. If this lasts, correct it. ${status.message}`,
  };
}

const isExplained = ({ phase, message }: PodStatus['state']): boolean => phase === 'starting' && message.includes(': ');

/**
 * The status of a deployment whose number of replicas programs of the cluster set, if it differs: it
 * runs while they change the number, and it is not stopped when they set 0.
 */
function statusOfScaled(
  { desired, up, outdated }: InstanceCounts,
  status: DeploymentStatus,
  { minimum, isIntended }: OtherScalers,
): DeploymentStatus | undefined {
  if (desired === 0) return { ...status, phase: isIntended ? 'running' : 'degraded' };
  const isScaling = status.phase === 'starting' && outdated === 0 && up >= Math.min(desired, minimum);
  return isScaling ? { ...status, phase: 'running' } : undefined;
}

const conditionOf = ({ status }: V1Deployment, type: string) =>
  status?.conditions?.find((condition) => condition.type === type);

/** The status if the pods cannot be created. */
function replicaFailureStatus({ deployment, anyRuns, counts, redact }: Rollout): DeploymentStatus | undefined {
  const condition = conditionOf(deployment, 'ReplicaFailure');
  if (condition?.status !== 'True') return undefined;
  return rejectedPodsStatus(redact(oneLine(condition.message ?? '')), { anyRuns, counts });
}

/** The status if the cluster does not create pods. `engineMessage` is redacted. */
function rejectedPodsStatus(
  engineMessage: string,
  { anyRuns, counts }: Pick<Rollout, 'anyRuns' | 'counts'>,
): DeploymentStatus {
  const what = failedWebhookIn(engineMessage) ? 'cannot create its pods' : 'rejects its pods';
  const message = `The cluster ${what}: ${truncate(withoutPreamble(engineMessage))} ${messageOfCounts(counts)}`;
  return withFailure({ reason: reasonOfRejection(engineMessage), message, anyRuns, isPermanent: false });
}

function reasonOfRejection(engineMessage: string): Reason {
  if (/exceeded quota/.test(engineMessage)) return 'Unschedulable';
  return failedWebhookIn(engineMessage) ? 'EngineError' : 'InvalidSpec';
}

/** The status if the rollout made no progress within its deadline. */
function deadlineStatus({ deployment, anyRuns, counts }: Rollout): DeploymentStatus | undefined {
  const condition = conditionOf(deployment, 'Progressing');
  if (condition?.reason !== 'ProgressDeadlineExceeded') return undefined;
  const message = `It did not become available before its progress deadline. ${messageOfCounts(counts)}`;
  return withFailure({ reason: 'DeadlineExceeded', message, anyRuns, isPermanent: true });
}

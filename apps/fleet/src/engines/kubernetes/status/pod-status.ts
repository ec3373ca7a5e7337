import type {
  V1ContainerStateTerminated,
  V1ContainerStateWaiting,
  V1ContainerStatus,
  V1Pod,
} from '@kubernetes/client-node';
import { bytes } from '../../../placement/quantities.ts';
import { CONTAINER } from '../../../render/pod.ts';
import {
  classifyPullFailure,
  isCrashReason,
  isProgramMissing,
  type Reason,
  textOfExit,
  textOfMemoryLimit,
} from '../../errors.ts';
import type { Instance, Process } from '../../observation.ts';
import { oneLine } from '../../redact.ts';

/**
 * The state of a pod, and the reason if it is not up. The message can contain text of the cluster
 * that is not redacted yet.
 */
export interface PodState {
  readonly phase: Instance['phase'];
  readonly message: string;
  readonly reason: Reason | null;
  /** Whether the state persists until the specification or the environment changes. */
  readonly isPermanent?: boolean;
  /** Whether events of the cluster may explain the state. */
  readonly needsEvents?: boolean;
}

/** The state of a pod whose image cannot be pulled. */
export function imagePullState(engineMessage: string): PodState {
  const { reason, meaning } = classifyPullFailure(engineMessage);
  const message = `is waiting for its image, which ${meaning}. The cluster reported: ${engineMessage}`;
  return { phase: 'created', message, reason };
}

const PULL_REASONS = ['ErrImagePull', 'ImagePullBackOff', 'RegistryUnavailable', 'ImageInspectError'];
const CONFIG_ERROR_REASONS = [
  'InvalidImageName',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
];

/**
 * Why a container waits; undefined if it starts normally. `lastTermination` is the state of its
 * last termination.
 */
function waitingState(
  { reason = '', message = '' }: V1ContainerStateWaiting,
  lastTermination: PodState | undefined,
): PodState | undefined {
  const engineMessage = oneLine(message) || reason;
  // Older clusters report only the back-off, without the cause.
  if (PULL_REASONS.includes(reason))
    return { ...imagePullState(engineMessage), needsEvents: !/: ./.test(engineMessage) };
  if (!CONFIG_ERROR_REASONS.includes(reason)) return lastTermination;
  const isPermanent = reason === 'InvalidImageName';
  return {
    phase: 'created',
    message: `cannot be started as configured: ${engineMessage}`,
    reason: 'InvalidSpec',
    isPermanent,
  };
}

interface Clock {
  /** The time by the clock of the cluster. */
  readonly now: number;
  /** Milliseconds that a pod must be ready before it counts as running. */
  readonly settled: number;
}

/** Whether a pod is pending or running, and not being deleted. */
export const isActive = ({ metadata, status }: V1Pod): boolean =>
  !metadata?.deletionTimestamp && status?.phase !== 'Succeeded' && status?.phase !== 'Failed';

/**
 * Derives the state of a pod from its status. The message can contain text of the cluster that is
 * not redacted yet.
 */
export function stateOf(pod: V1Pod, clock: Clock): PodState {
  const { metadata, status } = pod;
  if (metadata?.deletionTimestamp) return { phase: 'stopping', message: 'is being stopped', reason: null };
  const ended = endOfJob(pod);
  if (ended) return ended;
  if (status?.phase === 'Succeeded') return { phase: 'completed', message: 'has completed', reason: null };
  if (status?.phase === 'Failed') return failedState(pod);
  const unscheduled = unscheduledState(pod);
  if (unscheduled) return unscheduled;
  for (const container of containersOf(pod)) {
    const failure = containerFailure(pod, container, clock);
    if (failure) return ofContainer(container, failure);
  }
  return activeState(pod, clock);
}

const containersOf = ({ status }: V1Pod): V1ContainerStatus[] => [
  ...(status?.initContainerStatuses ?? []),
  ...(status?.containerStatuses ?? []),
];

/** The status of the container that runs the program. The cluster can have added others to the pod. */
const mainOf = ({ status }: V1Pod): V1ContainerStatus | undefined =>
  status?.containerStatuses?.find(({ name }) => name === CONTAINER);

/** How often the program was started again. */
export const restartsOf = (pod: V1Pod): number => mainOf(pod)?.restartCount ?? 0;

/** A state of a container as that of its pod. The message names a container that the cluster has added. */
const ofContainer = ({ name }: V1ContainerStatus, state: PodState): PodState =>
  name === CONTAINER ? state : { ...state, message: `has the container ${name}, which ${state.message}` };

/**
 * The state of the pod of a job whose program has ended. The pod itself ends only with all its
 * containers.
 */
function endOfJob(pod: V1Pod): PodState | undefined {
  const main = mainOf(pod);
  const ended = pod.spec?.restartPolicy === 'Never' ? main?.state?.terminated : undefined;
  if (!main || !ended) return undefined;
  if (ended.exitCode === 0) return { phase: 'completed', message: `has completed${besides(pod)}`, reason: null };
  if (pod.status?.reason) return undefined; // the cluster has terminated the pod
  const { reason, ...state } = endedState(pod, { ...main, ended }, 'has failed');
  return { ...state, phase: 'failed', reason: reason === 'CrashLoop' ? 'JobFailed' : reason };
}

function besides({ status }: V1Pod): string {
  const running = (status?.containerStatuses ?? []).filter(({ state }) => state?.running).map(({ name }) => name);
  return running.length === 0 ? '' : `, and still runs the container ${running.join(', ')}`;
}

function unscheduledState({ status }: V1Pod): PodState | undefined {
  const condition = status?.conditions?.find(({ type, status }) => type === 'PodScheduled' && status === 'False');
  if (!condition) return undefined;
  const message = `cannot be scheduled: ${oneLine(condition.message ?? condition.reason ?? '')}`;
  return { phase: 'created', message, reason: 'Unschedulable' };
}

function containerFailure(pod: V1Pod, container: V1ContainerStatus, { now, settled }: Clock): PodState | undefined {
  const { state, lastState } = container;
  const { name } = container;
  const before = lastState?.terminated && { name, ended: lastState.terminated };
  if (state?.waiting) return waitingState(state.waiting, before && endedState(pod, before, 'is restarting'));
  if (state?.terminated && state.terminated.exitCode !== 0) {
    return endedState(pod, { name, ended: state.terminated }, 'has exited');
  }
  const startedAt = state?.running?.startedAt?.getTime() ?? 0;
  const restartedRecently = before !== undefined && state?.running !== undefined && now - startedAt < settled;
  return restartedRecently ? endedState(pod, before, 'was restarted') : undefined;
}

interface EndedContainer {
  readonly name: string;
  readonly ended: V1ContainerStateTerminated;
}

function endedState({ spec }: V1Pod, { name, ended }: EndedContainer, what: string): PodState {
  const code = textOfExit(ended.exitCode);
  if (ended.reason === 'OOMKilled') {
    const container = spec?.containers.find((each) => each.name === name);
    const limit = bytes(container?.resources?.limits?.memory ?? '');
    const why = `it was killed because it exceeded ${textOfMemoryLimit(limit)}`;
    return { phase: 'crashed', message: `${what} (exit code ${ended.exitCode}): ${why}`, reason: 'OOMKilled' };
  }
  if (isProgramMissing(ended.message ?? '')) {
    const message = `cannot be started as configured: ${oneLine(ended.message ?? '')}`;
    return { phase: 'crashed', message, reason: 'InvalidSpec', isPermanent: true };
  }
  return ended.exitCode === 0
    ? { phase: 'stopped', message: `${what} (${code})`, reason: 'Exited' }
    : { phase: 'crashed', message: `${what} (${code})`, reason: 'CrashLoop' };
}

interface ProcessClock extends Pick<Clock, 'now'> {
  /** Milliseconds after which a restarted process counts as stable. */
  readonly stable: number;
}

/**
 * The process of an active pod; undefined if it was never started. A container that waits for its
 * restart has ended.
 */
export function processOf(pod: V1Pod, name: string, { now, stable }: ProcessClock): Process | undefined {
  const container = mainOf(pod);
  const { running, terminated = container?.lastState?.terminated } = container?.state ?? {};
  const startedAt = (running?.startedAt ?? terminated?.startedAt)?.getTime();
  if (!container || startedAt === undefined) return undefined;
  const hasHealthCheck = probeOf(pod) !== undefined;
  const stableInMs = container.ready && hasHealthCheck ? 0 : Math.max(0, startedAt + stable - now);
  const last = terminated && { name: CONTAINER, ended: terminated };
  const reason = last && !(running && stableInMs === 0) ? endedState(pod, last, '').reason : null;
  return {
    instance: name,
    id: name,
    body: '',
    startedAt,
    restarts: container.restartCount,
    ...(running && { stableInMs }),
    ...(terminated &&
      isCrashReason(reason) && {
        failure: {
          exitCode: terminated.exitCode,
          reason,
          startedAt: terminated.startedAt?.getTime() ?? startedAt,
        },
        ...(!running && { restart: { by: 'engine' as const, inMs: restartInMs(container, terminated, now) } }),
      }),
  };
}

const BACK_OFF = /back-off (?:(\d+)m)?(?:(\d+)s)? restarting/;

/** When the kubelet restarts a container, which its message states; undefined if it does not. */
function restartInMs(
  { state }: V1ContainerStatus,
  { finishedAt }: V1ContainerStateTerminated,
  now: number,
): number | undefined {
  const [text = '', minutes = '0', seconds = '0'] = BACK_OFF.exec(state?.waiting?.message ?? '') ?? [];
  if (text === '' || !finishedAt) return undefined;
  return finishedAt.getTime() + (Number(minutes) * 60 + Number(seconds)) * 1000 - now;
}

/** The state of a failed pod: a container failed, or the cluster terminated the pod. */
function failedState(pod: V1Pod): PodState {
  const all = containersOf(pod).flatMap(({ name, state }) =>
    state?.terminated ? [{ name, ended: state.terminated }] : [],
  );
  const worst = all.find(({ ended }) => ended.reason === 'OOMKilled') ?? all.find(({ ended }) => ended.exitCode !== 0);
  const { reason, message } = pod.status ?? {};
  if (!worst || reason === 'Evicted') {
    const engineMessage = oneLine(message ?? reason ?? 'no reason reported');
    return { phase: 'failed', message: `was terminated by the cluster: ${engineMessage}`, reason: 'JobFailed' };
  }
  const { reason: why, ...state } = endedState(pod, worst, 'has failed');
  return { ...state, phase: 'failed', reason: why === 'CrashLoop' ? 'JobFailed' : why };
}

const STARTING = 'is starting';
const OVERLOOKED = 'the scheduler of the cluster has not assigned it to a node. Check that the scheduler runs';

function activeState(pod: V1Pod, { now, settled }: Clock): PodState {
  const { status, metadata, spec } = pod;
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status !== 'True') {
    if (wasReady(pod)) return { phase: 'unhealthy', message: whyNotReady(pod), reason: null };
    const isLate = now - (metadata?.creationTimestamp?.getTime() ?? now) > settled;
    // The scheduler sets a condition when it finds no node.
    const isOverlooked = isLate && !spec?.nodeName && status?.phase === 'Pending';
    const message = isOverlooked ? `${STARTING}: ${OVERLOOKED}` : STARTING;
    return { phase: 'starting', message, reason: null, needsEvents: isLate && !isOverlooked };
  }
  return now - (ready.lastTransitionTime?.getTime() ?? now) < settled
    ? { phase: 'starting', message: 'has just started', reason: null }
    : { phase: 'running', message: 'is running', reason: null };
}

const probeOf = ({ spec }: V1Pod) => spec?.containers.find(({ name }) => name === CONTAINER)?.readinessProbe;

/**
 * Why a pod is no longer ready. If a node does not report its state, its cluster sets the condition
 * of the pod, and the containers remain ready.
 */
function whyNotReady(pod: V1Pod): string {
  const statuses = pod.status?.containerStatuses ?? [];
  const waitsFor = statuses.find(({ ready }) => !ready);
  if (statuses.length > 0 && !waitsFor) {
    return `is on the node ${pod.spec?.nodeName ?? 'of an unknown name'}, which does not report that it is ready`;
  }
  if (mainOf(pod)?.ready && waitsFor) return `is running, but its container ${waitsFor.name} is not ready`;
  return probeOf(pod) ? 'is running, but its health check fails' : 'is running, but not ready';
}

/**
 * Whether a pod that is not ready was ready since its containers started: before that, the
 * condition does not change.
 */
function wasReady(pod: V1Pod): boolean {
  const changed = pod.status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime?.getTime() ?? 0;
  const starts = (pod.status?.containerStatuses ?? []).map(({ state }) => state?.running?.startedAt?.getTime());
  return starts.length > 0 && starts.every((start) => start !== undefined && changed > start);
}

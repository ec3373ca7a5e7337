import type {
  V1ContainerStateTerminated,
  V1ContainerStateWaiting,
  V1ContainerStatus,
  V1Pod,
} from '@kubernetes/client-node';
import { bytes } from '../../quantities.ts';
import { pullTrouble, type Reason } from '../errors.ts';
import type { Instance } from '../observation.ts';
import { oneLine } from '../redact.ts';

/** How a pod stands, and why it is not up. Words of its cluster in it are still to be cleaned. */
export interface State {
  readonly phase: Instance['phase'];
  readonly message: string;
  readonly reason: Reason | null;
  /** It goes no better unless somebody changes something. */
  readonly isForGood?: boolean;
  /** There may be more to say of it among the events of its cluster. */
  readonly isVague?: boolean;
}

/** A pod whose image does not come, by what is said of it. */
export function imageTrouble(said: string): State {
  const { reason, meaning } = pullTrouble(said);
  return { phase: 'created', message: `waits for its image, which ${meaning}: ${said}`, reason };
}

const PULLING = ['ErrImagePull', 'ImagePullBackOff', 'RegistryUnavailable', 'ImageInspectError'];
const UNMAKEABLE = ['InvalidImageName', 'CreateContainerConfigError', 'CreateContainerError', 'RunContainerError'];

/** Why a container waits to be started; undefined where it is on its way. `before` is how it ended the last time. */
function waitingFor(
  { reason = '', message = '' }: V1ContainerStateWaiting,
  before: State | undefined,
): State | undefined {
  const said = oneLine(message) || reason;
  // Older clusters say no more than that they wait with the next try.
  if (PULLING.includes(reason)) return { ...imageTrouble(said), isVague: !/: ./.test(said) };
  if (!UNMAKEABLE.includes(reason)) return before;
  const isForGood = reason === 'InvalidImageName';
  return { phase: 'created', message: `can't be started as it is: ${said}`, reason: 'InvalidSpec', isForGood };
}

interface Clock {
  /** The cluster's. */
  readonly now: number;
  /** Milliseconds after which what is ready runs. */
  readonly settled: number;
}

/** Whether it is still to run, or runs. */
export const isActive = ({ metadata, status }: V1Pod): boolean =>
  !metadata?.deletionTimestamp && status?.phase !== 'Succeeded' && status?.phase !== 'Failed';

/** How a pod stands by what its cluster says. Cluster words in it are still to be cleaned. */
export function stateOf(pod: V1Pod, clock: Clock): State {
  const { metadata, status } = pod;
  if (metadata?.deletionTimestamp) return { phase: 'stopping', message: 'is being stopped', reason: null };
  if (status?.phase === 'Succeeded') return { phase: 'completed', message: 'has done its work', reason: null };
  if (status?.phase === 'Failed') return failed(pod);
  const placeless = unscheduled(pod);
  if (placeless) return placeless;
  for (const container of containersOf(pod)) {
    const trouble = troubleOf(pod, container, clock);
    if (trouble) return trouble;
  }
  return up(pod, clock);
}

const containersOf = ({ status }: V1Pod): V1ContainerStatus[] => [
  ...(status?.initContainerStatuses ?? []),
  ...(status?.containerStatuses ?? []),
];

function unscheduled({ status }: V1Pod): State | undefined {
  const condition = status?.conditions?.find(({ type, status }) => type === 'PodScheduled' && status === 'False');
  if (!condition) return undefined;
  const message = `finds no place to run: ${oneLine(condition.message ?? condition.reason ?? '')}`;
  return { phase: 'created', message, reason: 'Unschedulable' };
}

function troubleOf(pod: V1Pod, container: V1ContainerStatus, { now, settled }: Clock): State | undefined {
  const { state, lastState } = container;
  const before = lastState?.terminated;
  if (state?.waiting) return waitingFor(state.waiting, before && crashed(pod, before, 'is being started again'));
  if (state?.terminated && state.terminated.exitCode !== 0) return crashed(pod, state.terminated, 'has ended');
  const startedAt = state?.running?.startedAt?.getTime() ?? 0;
  const isJustBack = before !== undefined && state?.running !== undefined && now - startedAt < settled;
  return isJustBack ? crashed(pod, before, 'was started again') : undefined;
}

const NO_PROGRAM =
  /executable file not found|exec: .*no such file or directory|exec format error|exec: .*permission denied/i;

function crashed(pod: V1Pod, ended: V1ContainerStateTerminated, what: string): State {
  const code = `exit code ${ended.exitCode}`;
  if (ended.reason === 'OOMKilled') {
    const why = `it was killed, as it needed more than its ${memoryOf(pod)} of memory`;
    return { phase: 'crashed', message: `${what} (${code}): ${why}`, reason: 'OOMKilled' };
  }
  if (NO_PROGRAM.test(ended.message ?? '')) {
    const message = `can't be started as it is: ${oneLine(ended.message ?? '')}`;
    return { phase: 'crashed', message, reason: 'InvalidSpec', isForGood: true };
  }
  return { phase: 'crashed', message: `${what} (${code})`, reason: 'CrashLoop' };
}

function memoryOf({ spec }: V1Pod): string {
  const limit = bytes(spec?.containers[0]?.resources?.limits?.memory ?? '');
  return limit > 0 ? `${Math.round(limit / 2 ** 20)} MiB` : 'share';
}

/** Its containers have ended, or its node has put an end to them. */
function failed(pod: V1Pod): State {
  const ended = containersOf(pod).flatMap(({ state }) => state?.terminated ?? []);
  const worst = ended.find(({ reason }) => reason === 'OOMKilled') ?? ended.find(({ exitCode }) => exitCode !== 0);
  const { reason, message } = pod.status ?? {};
  if (!worst || reason === 'Evicted') {
    const said = oneLine(message ?? reason ?? 'for a reason that its cluster does not say');
    return { phase: 'failed', message: `was ended by its cluster: ${said}`, reason: 'JobFailed' };
  }
  const { reason: why, ...state } = crashed(pod, worst, 'has failed');
  return { ...state, phase: 'failed', reason: why === 'CrashLoop' ? 'JobFailed' : why };
}

function up({ status, metadata }: V1Pod, { now, settled }: Clock): State {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status !== 'True') {
    const since = metadata?.creationTimestamp?.getTime() ?? now;
    return { phase: 'starting', message: 'is being started', reason: null, isVague: now - since > settled };
  }
  return now - (ready.lastTransitionTime?.getTime() ?? now) < settled
    ? { phase: 'starting', message: 'was started just now', reason: null }
    : { phase: 'running', message: 'runs', reason: null };
}

import type { V1ContainerStatus, V1Pod } from '@kubernetes/client-node';
import { MAX_INSTANCE_EVENTS } from '@svc/contract/fleet';
import { CONTAINER } from '../../../render/pod.ts';
import { textOfExit } from '../../errors.ts';
import type { Instance, InstanceContainer, InstanceEvent, Process } from '../../observation.ts';
import { oneLine, truncate } from '../../redact.ts';
import type { KubernetesClient } from '../client.ts';
import { eventsOf, warningIn } from '../diagnosis/events.ts';
import { overdueBy, podName } from '../objects.ts';
import type { PodRedactor } from '../redact.ts';
import { imagePullState, isActive, type PodState, processOf, restartsOf, stateOf } from './pod-status.ts';

/**
 * The state of a pod, with a message from its events if the status of the pod explains too little.
 */
function withEventMessage(state: PodState, events: readonly InstanceEvent[]): PodState {
  if (!state.needsEvents) return state;
  const isImage = state.phase === 'created';
  const warning = warningIn(events, isImage ? /failed to pull|pulling image/i : /./);
  if (warning === '') return state;
  return isImage ? imagePullState(warning) : { ...state, message: `${state.message}: ${warning}` };
}

/** A pod and its state. */
export interface PodStatus {
  readonly pod: V1Pod;
  readonly name: string;
  readonly state: PodState;
  /** Whether its termination is overdue, and its node has not confirmed it. */
  readonly isStuck: boolean;
  readonly process: Process | undefined;
  readonly instance: Instance;
}

/** The maximum number of pods of a deployment whose events are read in a pass. */
const MAX_EXPLAINED = 5;

/** The phases of pods whose events explain why they do not run. */
const EXPLAINED: readonly PodState['phase'][] = ['created', 'unhealthy', 'crashed', 'failed'];

const needsExplanation = ({ needsEvents, phase }: PodState): boolean =>
  needsEvents === true || EXPLAINED.includes(phase);

/** The states of the pods of a deployment, with redacted messages. */
export async function podStatusesOf(
  client: KubernetesClient,
  pods: readonly V1Pod[],
  redact: PodRedactor,
): Promise<PodStatus[]> {
  const now = client.now();
  const { settled, overdue, stable } = client.timing;
  const states = pods.map((pod) => ({ pod, state: stateOf(pod, { now, settled }) }));
  const unclear = states.filter(({ state }) => needsExplanation(state)).slice(0, MAX_EXPLAINED);
  return Promise.all(
    states.map(async (found) => {
      const { pod } = found;
      const events = unclear.includes(found) ? await eventsOf(client, pod.metadata?.uid) : [];
      const state = withEventMessage(found.state, events);
      const isStuck = overdueBy(pod.metadata?.deletionTimestamp, now) > overdue;
      const redacted = (text: string) => truncate(redact(text, pod));
      // Without a reason or events, the message contains no text of the cluster.
      const isFleetMessage = state.reason === null && state.needsEvents !== true;
      const message = isFleetMessage ? state.message : redacted(state.message);
      const name = podName(pod);
      const process = isActive(pod) ? processOf(pod, name, { now, stable }) : undefined;
      const instance: Instance = {
        name,
        phase: state.phase,
        message,
        restarts: restartsOf(pod),
        node: pod.spec?.nodeName ?? null,
        containers: containersOf(pod, redacted),
        events: events.slice(0, MAX_INSTANCE_EVENTS).map(({ at, type, reason, message: text }) => ({
          at,
          type: redacted(type),
          reason: redacted(reason),
          message: redacted(text),
        })),
      };
      return { pod, name, state: { ...state, message }, isStuck, process, instance };
    }),
  );
}

/** The maximum number of containers of a pod in an observation. */
const MAX_CONTAINERS = 20;

/** The containers of a pod: that of the program, then others that run beside it, then those that ran before it. */
function containersOf({ spec, status }: V1Pod, redact: (text: string) => string): InstanceContainer[] {
  const statuses = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  const main = spec?.containers.filter(({ name }) => name === CONTAINER) ?? [];
  const others = spec?.containers.filter(({ name }) => name !== CONTAINER) ?? [];
  return [...main, ...others, ...(spec?.initContainers ?? [])].slice(0, MAX_CONTAINERS).map(({ name, image = '' }) => {
    const found = statuses.find((each) => each.name === name);
    return { name, image: redact(image), ...containerState(found, redact), restarts: found?.restartCount ?? 0 };
  });
}

function containerState(
  status: V1ContainerStatus | undefined,
  redact: (text: string) => string,
): Pick<InstanceContainer, 'phase' | 'message'> {
  const { running, terminated, waiting } = status?.state ?? {};
  if (running) return { phase: 'running', message: status?.ready ? 'is running' : 'is running, but not ready' };
  if (terminated) return { phase: 'terminated', message: `has ended (${textOfExit(terminated.exitCode)})` };
  const { reason = '', message = '' } = waiting ?? {};
  const text = oneLine(message) || reason;
  return { phase: 'waiting', message: text === '' ? 'has not started' : redact(`is waiting: ${text}`) };
}

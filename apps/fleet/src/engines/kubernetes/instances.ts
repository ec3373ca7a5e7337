import type { V1Pod } from '@kubernetes/client-node';
import { EngineFailure, Unreachable } from '../errors.ts';
import type { Instance, Process } from '../observation.ts';
import { oneLine, truncate } from '../redact.ts';
import type { KubernetesClient } from './client.ts';
import { overdueBy, podName } from './objects.ts';
import { imagePullState, isActive, type PodState, processOf, stateOf } from './pod-status.ts';
import type { PodRedactor } from './redact.ts';

const MAX_EVENTS = 100;

/**
 * The message of the latest warning event about an object; '' if there is none. Warnings only
 * explain a state, so a failed request for events is ignored, unless the cluster is unreachable.
 */
export async function lastWarning(client: KubernetesClient, uid: string | undefined, about = /./): Promise<string> {
  if (uid === undefined) return '';
  try {
    const { core } = await client.apis();
    const fieldSelector = `involvedObject.uid=${uid},type=Warning`;
    const { items } = await core.listNamespacedEvent({
      namespace: client.address.namespace,
      fieldSelector,
      limit: MAX_EVENTS,
    });
    const warnings = (items ?? [])
      .filter(({ message = '' }) => about.test(message))
      .map(({ message, lastTimestamp, eventTime }) => ({ message, at: timeOf(lastTimestamp ?? eventTime) }))
      .sort((a, b) => b.at - a.at);
    return oneLine(warnings[0]?.message ?? '');
  } catch (error) {
    if (error instanceof EngineFailure && !(error instanceof Unreachable)) return '';
    throw error;
  }
}

/**
 * The time of an event in milliseconds; 0 if it is unknown. The scheduler sends no `lastTimestamp`,
 * and the client library leaves the text of an `eventTime`, which has microseconds.
 */
const timeOf = (time: Date | string | null | undefined): number =>
  time === null || time === undefined ? 0 : new Date(time).getTime() || 0;

/**
 * The state of a pod, with a message from its events if the status of the pod explains too little.
 */
async function withEventMessage(client: KubernetesClient, pod: V1Pod, state: PodState): Promise<PodState> {
  if (!state.needsEvents) return state;
  const isImage = state.phase === 'created';
  const warnings = await lastWarning(client, pod.metadata?.uid, isImage ? /failed to pull|pulling image/i : /./);
  if (warnings === '') return state;
  return isImage ? imagePullState(warnings) : { ...state, message: `${state.message}: ${warnings}` };
}

/** A pod and its state. */
export interface PodStatus {
  readonly pod: V1Pod;
  readonly name: string;
  readonly state: PodState;
  /** Whether its termination is overdue, and its node has not confirmed it. */
  readonly isStuck: boolean;
  readonly process: Process | undefined;
}

/**
 * Maximum number of pods whose events are read, because pods of a deployment usually have the same
 * problem.
 */
const MAX_EXPLAINED = 2;

/** The states of the pods of a deployment, with redacted messages. */
export async function podStatusesOf(
  client: KubernetesClient,
  pods: readonly V1Pod[],
  redact: PodRedactor,
): Promise<PodStatus[]> {
  const now = client.now();
  const { settled, overdue, stable } = client.timing;
  const states = pods.map((pod) => ({ pod, state: stateOf(pod, { now, settled }) }));
  const vague = states.filter(({ state }) => state.needsEvents).slice(0, MAX_EXPLAINED);
  return Promise.all(
    states.map(async (instance) => {
      const state = vague.includes(instance)
        ? await withEventMessage(client, instance.pod, instance.state)
        : instance.state;
      const isStuck = overdueBy(instance.pod.metadata?.deletionTimestamp, now) > overdue;
      // Without a reason or events, the message contains no text of the cluster.
      const isFleetMessage = state.reason === null && state.needsEvents !== true;
      const message = isFleetMessage ? state.message : truncate(redact(state.message, instance.pod));
      const name = podName(instance.pod);
      const process = isActive(instance.pod) ? processOf(instance.pod, name, { now, stable }) : undefined;
      return { pod: instance.pod, name, state: { ...state, message }, isStuck, process };
    }),
  );
}

/** Converts a pod to the representation in observations. */
export const instanceOf = ({ pod, name, state }: PodStatus): Instance => ({
  name,
  phase: state.phase,
  message: state.message,
  restarts: (pod.status?.containerStatuses ?? []).reduce((all, { restartCount }) => all + restartCount, 0),
});

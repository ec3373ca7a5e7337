import type { V1Pod } from '@kubernetes/client-node';
import { EngineFailure, Unreachable } from '../errors.ts';
import type { Instance } from '../observation.ts';
import { cut, oneLine } from '../redact.ts';
import type { KubernetesClient } from './client.ts';
import { lateBy, podName } from './objects.ts';
import { imageTrouble, type State, stateOf } from './pod-status.ts';
import type { CleanOf } from './redact.ts';

const MOST = 100;

/**
 * The last thing that its cluster warned of about an object; '' where there is none. It only explains: who may not read
 * events goes without.
 */
export async function lastWarning(client: KubernetesClient, uid: string | undefined, about = /./): Promise<string> {
  if (uid === undefined) return '';
  try {
    const { core } = await client.apis();
    const fieldSelector = `involvedObject.uid=${uid},type=Warning`;
    const { items } = await core.listNamespacedEvent({
      namespace: client.address.namespace,
      fieldSelector,
      limit: MOST,
    });
    const said = (items ?? [])
      .filter(({ message = '' }) => about.test(message))
      .map(({ message, lastTimestamp, eventTime }) => ({ message, at: (lastTimestamp ?? eventTime)?.getTime() ?? 0 }))
      .sort((a, b) => b.at - a.at);
    return oneLine(said[0]?.message ?? '');
  } catch (error) {
    if (error instanceof EngineFailure && !(error instanceof Unreachable)) return '';
    throw error;
  }
}

/** The state of a pod, with what its events say of it where it says too little itself. */
async function explained(client: KubernetesClient, pod: V1Pod, state: State): Promise<State> {
  if (!state.isVague) return state;
  const isImage = state.phase === 'created';
  const said = await lastWarning(client, pod.metadata?.uid, isImage ? /failed to pull|pulling image/i : /./);
  if (said === '') return state;
  return isImage ? imageTrouble(said) : { ...state, message: `${state.message}: ${said}` };
}

/** A pod, and how it stands. */
export interface Standing {
  readonly pod: V1Pod;
  readonly name: string;
  readonly state: State;
  /** It should have been gone for a while, and its node does not say that it is. */
  readonly isStuck: boolean;
}

/** More are not asked about: what one says, the next says too. */
const MOST_EXPLAINED = 2;

/** How the pods of a deployment stand, in words from which what is secret was taken out. */
export async function standingsOf(
  client: KubernetesClient,
  pods: readonly V1Pod[],
  clean: CleanOf,
): Promise<Standing[]> {
  const now = client.now();
  const { settled, overdue } = client.timing;
  const states = pods.map((pod) => ({ pod, state: stateOf(pod, { now, settled }) }));
  const vague = states.filter(({ state }) => state.isVague).slice(0, MOST_EXPLAINED);
  return Promise.all(
    states.map(async (it) => {
      const state = vague.includes(it) ? await explained(client, it.pod, it.state) : it.state;
      const isStuck = lateBy(it.pod.metadata?.deletionTimestamp, now) > overdue;
      const isOurs = state.reason === null && state.isVague !== true; // in no words but ours
      const message = isOurs ? state.message : cut(clean(state.message, it.pod));
      return { pod: it.pod, name: podName(it.pod), state: { ...state, message }, isStuck };
    }),
  );
}

/** A pod as people see it. */
export const instanceOf = ({ pod, name, state }: Standing): Instance => ({
  name,
  phase: state.phase,
  message: state.message,
  restarts: (pod.status?.containerStatuses ?? []).reduce((all, { restartCount }) => all + restartCount, 0),
});

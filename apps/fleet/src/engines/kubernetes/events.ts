import type { V1Pod } from '@kubernetes/client-node';
import { EngineFailure, Unreachable } from '../errors.ts';
import { oneLine } from '../words.ts';
import type { Client } from './cluster-client.ts';
import type { State } from './state.ts';
import { imageTrouble } from './waiting.ts';

const MOST = 100;

/**
 * The last thing that its cluster warned of about an object; '' where there is none. It only explains: who may not read
 * events goes without.
 */
export async function lastWarning(client: Client, uid: string | undefined, about = /./): Promise<string> {
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
export async function explained(client: Client, pod: V1Pod, state: State): Promise<State> {
  if (!state.isVague) return state;
  const isImage = state.phase === 'created';
  const said = await lastWarning(client, pod.metadata?.uid, isImage ? /failed to pull|pulling image/i : /./);
  if (said === '') return state;
  return isImage ? imageTrouble(said) : { ...state, message: `${state.message}: ${said}` };
}

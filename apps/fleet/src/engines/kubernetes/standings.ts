import type { V1Pod } from '@kubernetes/client-node';
import type { Instance } from '../observation.ts';
import { cut } from '../words.ts';
import type { Client } from './cluster-client.ts';
import { explained } from './events.ts';
import { lateBy, podName } from './look.ts';
import { stateOf } from './pods.ts';
import type { CleanOf } from './scrub.ts';
import type { State } from './state.ts';

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
export async function standingsOf(client: Client, pods: readonly V1Pod[], clean: CleanOf): Promise<Standing[]> {
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

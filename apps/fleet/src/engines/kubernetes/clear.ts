import { type EngineFailure, failureOf } from '../errors.ts';
import type { Fence } from '../fence.ts';
import type { Observation } from '../observation.ts';
import type { Ending } from '../wanted.ts';
import type { Client } from './cluster-client.ts';
import { lateBy, podName, podsOf } from './look.ts';
import { called, isWorkload, objectsOf } from './objects.ts';
import { demandLatest, unlessOvertaken } from './overtaken.ts';
import { removeOwned } from './remove.ts';
import { deleteVolume, volumesLeft } from './volumes.ts';

/** Takes a deployment off its cluster: what ran when it is stopped, all that it has when it is to be gone. */
export function clear(client: Client, wanted: Ending, fence: Fence): Promise<Observation> {
  const actions: string[] = [];
  return unlessOvertaken(fence, actions, async () => {
    const found = await objectsOf(client, fence.deploymentId);
    demandLatest(found, fence);
    const trouble = await failureOf(async () => {
      for (const object of found.filter((object) => wanted.kind === 'gone' || isWorkload(object))) {
        actions.push(...(await removeOwned(client, object, fence)));
      }
      for (const name of wanted.kind === 'gone' ? wanted.volumes : []) {
        actions.push(...(await deleteVolume(client, name)));
      }
    });
    return outcome(wanted, { actions, trouble, left: await whatIsLeft(client, wanted, fence) });
  });
}

/** What is still to go. */
interface Left {
  readonly name: string;
  readonly isPod: boolean;
  /** It should have been gone for a while. */
  readonly isLate: boolean;
}

async function whatIsLeft(client: Client, wanted: Ending, { deploymentId }: Fence): Promise<Left[]> {
  const isLate = (leaving: Date | undefined) => lateBy(leaving, client.now()) > client.timing.overdue;
  const objects = (await objectsOf(client, deploymentId)).filter((it) => wanted.kind === 'gone' || isWorkload(it));
  const volumes = wanted.kind === 'gone' ? await volumesLeft(client, wanted.volumes) : [];
  const pods = await podsOf(client, deploymentId);
  return [
    ...pods.map((pod) => ({ name: podName(pod), isPod: true, isLate: isLate(pod.metadata?.deletionTimestamp) })),
    ...[...objects, ...volumes].map((it) => ({ name: called(it), isPod: false, isLate: isLate(it.leaving) })),
  ];
}

interface Ended {
  readonly left: readonly Left[];
  readonly actions: readonly string[];
  readonly trouble: EngineFailure | undefined;
}

function outcome({ kind }: Ending, { left, actions, trouble }: Ended): Observation {
  const isDone = left.length === 0 && trouble === undefined;
  const under = kind === 'gone' ? 'deleting' : 'stopping';
  const [late] = left.filter(({ isLate }) => isLate);
  const waits = late ? `${late.name} should be gone by now. ` : '';
  return {
    phase: isDone ? kind : under,
    reason: trouble?.reason ?? null,
    message:
      trouble?.message ??
      (isDone ? 'Nothing of it is left to run.' : `${waits}${left.length} still to be gone: ${namesOf(left)}.`),
    instances: left
      .filter(({ isPod }) => isPod)
      .map(({ name }) => ({ name, phase: 'stopping', message: 'is being stopped', restarts: 0 })),
    endpoints: [],
    volumes: [],
    actions,
    next: isDone ? 'settled' : trouble || late ? 'retry' : 'soon',
    overtaken: false,
  };
}

const MOST_NAMED = 3;

const namesOf = (left: readonly Left[]): string =>
  [...left.slice(0, MOST_NAMED).map(({ name }) => name), ...(left.length > MOST_NAMED ? ['…'] : [])].join(', ');

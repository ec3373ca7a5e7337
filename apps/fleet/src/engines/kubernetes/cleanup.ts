import { KEYS } from '../../render/labels.ts';
import { type EngineFailure, failureOf, Transient } from '../errors.ts';
import type { Ending, Fence, Observation } from '../observation.ts';
import type { KubernetesClient } from './client.ts';
import { changedMeanwhile } from './errors.ts';
import {
  called,
  deleteObject,
  demandLatest,
  type Found,
  isWorkload,
  lateBy,
  objectCalled,
  objectsOf,
  objectsWith,
  podName,
  podsOf,
  unlessOvertaken,
} from './objects.ts';

const TRIES = 5;

interface Removal {
  /** Asked of an object as it is now, before it is deleted as such. */
  readonly mayGo: (found: Found) => boolean;
  readonly tries?: number;
}

/**
 * Has an object deleted, with all that it has made; it may take a while to be gone. Nothing happens to one that is being
 * deleted already, or that is another one by now.
 *
 * @returns whether it was deleted now
 */
async function remove(client: KubernetesClient, found: Found, { mayGo, tries = TRIES }: Removal): Promise<boolean> {
  if (found.leaving || !mayGo(found)) return false;
  try {
    await deleteObject(client, found);
    return true;
  } catch (error) {
    if (!changedMeanwhile(error) || tries === 1) throw error;
    const now = await objectCalled(client, found.kind, found.name);
    return now?.uid === found.uid ? remove(client, now, { mayGo, tries: tries - 1 }) : false;
  }
}

/** Has an object of a deployment deleted. @returns what was done @throws Overtaken */
export async function removeOwned(client: KubernetesClient, found: Found, fence: Fence): Promise<string[]> {
  const mayGo = (now: Found) => {
    demandLatest([now], fence);
    return true;
  };
  return (await remove(client, found, { mayGo })) ? [`removed ${called(found)}`] : [];
}

const isOurs = ({ labels }: Found): boolean => labels[KEYS.managedBy] === 'fleet' && labels[KEYS.storage] !== undefined;

/** A volume of the fleet; undefined where there is none, or one that is not ours. */
async function volumeCalled(client: KubernetesClient, name: string): Promise<Found | undefined> {
  const found = await objectCalled(client, 'PersistentVolumeClaim', name);
  return found && isOurs(found) ? found : undefined;
}

/** Has a volume of the fleet deleted; its cluster keeps it until no pod uses it. @returns what was done */
async function deleteVolume(client: KubernetesClient, name: string): Promise<string[]> {
  const found = await volumeCalled(client, name);
  return found && (await remove(client, found, { mayGo: isOurs })) ? [`removed the volume ${name}`] : [];
}

/**
 * Removes a volume of the fleet, and what is in it. @returns what was done: nothing where there is none of ours
 * @throws Transient while it is still there
 */
export async function removeVolume(client: KubernetesClient, name: string): Promise<string[]> {
  const actions = await deleteVolume(client, name);
  if (await volumeCalled(client, name)) {
    throw new Transient('EngineError', `The volume ${name} is still in use, or its cluster is still removing it.`);
  }
  return actions;
}

/** Those of some volumes that are still there. */
export async function volumesLeft(client: KubernetesClient, names: readonly string[]): Promise<Found[]> {
  const found = await Promise.all(names.map((name) => volumeCalled(client, name)));
  return found.filter((volume) => volume !== undefined);
}

/** Takes a deployment off its cluster: what ran when it is stopped, all that it has when it is to be gone. */
export function clear(client: KubernetesClient, wanted: Ending, fence: Fence): Promise<Observation> {
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

async function whatIsLeft(client: KubernetesClient, wanted: Ending, { deploymentId }: Fence): Promise<Left[]> {
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

/** Ids in one selector: it travels in the address of a request. */
const AT_ONCE = 50;

/**
 * Removes what is there of deployments and volumes that are gone for good: who was frozen as he asked for it has gone on.
 *
 * @param gone ids
 * @returns what was done
 */
export async function sweep(client: KubernetesClient, gone: ReadonlySet<string>): Promise<string[]> {
  const ids = [...gone];
  const actions: string[] = [];
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    actions.push(...(await sweepSome(client, ids.slice(from, from + AT_ONCE))));
  }
  return actions;
}

async function sweepSome(client: KubernetesClient, ids: readonly string[]): Promise<string[]> {
  const oursIn = (key: string) => `${KEYS.managedBy}=fleet,${key} in (${ids.join()})`;
  const actions: string[] = [];
  for (const object of await objectsWith(client, oursIn(KEYS.deployment))) {
    const deploymentId = object.labels[KEYS.deployment] ?? '';
    actions.push(...(await removeOwned(client, object, { deploymentId, generation: Number.MAX_SAFE_INTEGER })));
  }
  for (const { name } of await objectsWith(client, oursIn(KEYS.storage), ['PersistentVolumeClaim'])) {
    actions.push(...(await deleteVolume(client, name)));
  }
  return actions;
}

import { KEYS } from '../../render/labels.ts';
import { isNameService } from '../../render/networks/isolation.ts';
import { removalObservation } from '../deployment-status.ts';
import { catchFailure, Transient } from '../errors.ts';
import type { DesiredEnd, Fence, Observation } from '../observation.ts';
import type { KubernetesClient } from './client.ts';
import { isConflict } from './errors.ts';
import {
  assertNotSuperseded,
  deleteObject,
  displayNameOf,
  type FoundObject,
  isScaler,
  isWorkload,
  listBySelector,
  listOwnedObjects,
  overdueBy,
  podName,
  podsOf,
  readObject,
  selectorOfApplication,
  unlessSuperseded,
} from './objects.ts';

const MAX_ATTEMPTS = 5;

interface Removal {
  /** Whether the current version of an object may be deleted. */
  readonly mayDelete: (found: FoundObject) => boolean;
  readonly attempts?: number;
}

/**
 * Requests the deletion of an object and its dependents, which may take a while. Does nothing if
 * the object is already being deleted, or if another object has its name now.
 *
 * @returns whether the deletion was requested
 */
async function remove(
  client: KubernetesClient,
  found: FoundObject,
  { mayDelete, attempts = MAX_ATTEMPTS }: Removal,
): Promise<boolean> {
  if (found.deletionTime || !mayDelete(found)) return false;
  try {
    await deleteObject(client, found);
    return true;
  } catch (error) {
    if (!isConflict(error) || attempts === 1) throw error;
    const now = await readObject(client, found.kind, found.name);
    return now?.uid === found.uid ? remove(client, now, { mayDelete, attempts: attempts - 1 }) : false;
  }
}

/**
 * Requests the deletion of an object of a deployment. @returns the actions taken @throws Superseded
 */
export async function removeOwned(client: KubernetesClient, found: FoundObject, fence: Fence): Promise<string[]> {
  const mayDelete = (now: FoundObject) => {
    assertNotSuperseded([now], fence);
    return true;
  };
  return (await remove(client, found, { mayDelete })) ? [`removed ${displayNameOf(found)}`] : [];
}

/**
 * Removes the Service with the names of an application, unless a part of it still runs. A part that is started again creates
 * it again. @returns the actions taken
 */
async function removeNames(client: KubernetesClient, applicationId: string): Promise<string[]> {
  const found = await listBySelector(client, selectorOfApplication(applicationId), ['Deployment', 'Job', 'Service']);
  if (found.some((object) => isWorkload(object) && !object.deletionTime)) return [];
  const actions: string[] = [];
  for (const object of found.filter(isNameService)) {
    if (await remove(client, object, { mayDelete: isNameService })) actions.push(`removed ${displayNameOf(object)}`);
  }
  return actions;
}

const isManagedVolume = ({ labels }: FoundObject): boolean =>
  labels[KEYS.managedBy] === 'fleet' && labels[KEYS.storage] !== undefined;

/** Finds a volume of the fleet; undefined if it does not exist or the fleet does not manage it. */
async function findVolume(client: KubernetesClient, name: string): Promise<FoundObject | undefined> {
  const found = await readObject(client, 'PersistentVolumeClaim', name);
  return found && isManagedVolume(found) ? found : undefined;
}

/**
 * Requests the deletion of a volume of the fleet. The cluster keeps it until no pod uses it.
 *
 * @returns the actions taken
 */
async function deleteVolume(client: KubernetesClient, name: string): Promise<string[]> {
  const found = await findVolume(client, name);
  return found && (await remove(client, found, { mayDelete: isManagedVolume })) ? [`removed the volume ${name}`] : [];
}

/**
 * Removes a volume of the fleet with its data.
 *
 * @returns the actions taken; none if the fleet manages no volume with this name
 * @throws Transient while the volume exists
 */
export async function removeVolume(client: KubernetesClient, name: string): Promise<string[]> {
  const actions = await deleteVolume(client, name);
  if (await findVolume(client, name)) {
    throw new Transient('EngineError', `The volume ${name} is still in use, or its cluster is still removing it.`);
  }
  return actions;
}

/** The volumes of the fleet that exist among the names. */
export async function findVolumes(client: KubernetesClient, names: readonly string[]): Promise<FoundObject[]> {
  const found = await Promise.all(names.map((name) => findVolume(client, name)));
  return found.filter((volume) => volume !== undefined);
}

/**
 * Removes the workloads of a stopped deployment, or all objects and the named volumes of a deleted
 * one.
 */
export function removeFromCluster(client: KubernetesClient, desired: DesiredEnd, fence: Fence): Promise<Observation> {
  const actions: string[] = [];
  return unlessSuperseded(fence, actions, async () => {
    const found = await listOwnedObjects(client, fence.deploymentId);
    assertNotSuperseded(found, fence);
    const failure = await catchFailure(async () => {
      for (const object of found.filter((object) => isRemoved(desired, object))) {
        actions.push(...(await removeOwned(client, object, fence)));
      }
      for (const name of desired.kind === 'gone' ? desired.volumes : []) {
        actions.push(...(await deleteVolume(client, name)));
      }
      if (desired.kind === 'gone' && desired.application)
        actions.push(...(await removeNames(client, desired.application)));
    });
    const remaining = await findRemaining(client, desired, fence);
    const pods = remaining.filter(({ isPod }) => isPod);
    // Without the response of the cluster, because there is no manifest to redact it with.
    return removalObservation({
      kind: desired.kind,
      actions,
      failure,
      remaining: messageOfRemaining(remaining),
      instances: pods.map(({ name }) => ({ name, restarts: 0 })),
      isOverdue: remaining.some(({ isOverdue }) => isOverdue),
    });
  });
}

/** Whether a stopped or deleted deployment does not have an object. */
const isRemoved = ({ kind }: DesiredEnd, object: FoundObject): boolean =>
  kind === 'gone' || isWorkload(object) || isScaler(object);

/** An object that is still to be removed. */
interface Remaining {
  readonly name: string;
  readonly isPod: boolean;
  /** Whether its removal takes longer than expected. */
  readonly isOverdue: boolean;
}

async function findRemaining(
  client: KubernetesClient,
  desired: DesiredEnd,
  { deploymentId }: Fence,
): Promise<Remaining[]> {
  const isOverdue = (deletionTime: Date | undefined) => overdueBy(deletionTime, client.now()) > client.timing.overdue;
  const objects = (await listOwnedObjects(client, deploymentId)).filter((object) => isRemoved(desired, object));
  const volumes = desired.kind === 'gone' ? await findVolumes(client, desired.volumes) : [];
  const pods = await podsOf(client, deploymentId);
  return [
    ...pods.map((pod) => ({ name: podName(pod), isPod: true, isOverdue: isOverdue(pod.metadata?.deletionTimestamp) })),
    ...[...objects, ...volumes].map((object) => ({
      name: displayNameOf(object),
      isPod: false,
      isOverdue: isOverdue(object.deletionTime),
    })),
  ];
}

const MAX_NAMED = 3;

function messageOfRemaining(remaining: readonly Remaining[]): string {
  if (remaining.length === 0) return '';
  const overdue = remaining.find(({ isOverdue }) => isOverdue);
  const names = [
    ...remaining.slice(0, MAX_NAMED).map(({ name }) => name),
    ...(remaining.length > MAX_NAMED ? ['…'] : []),
  ];
  const stillThere = `${remaining.length} still to be removed: ${names.join(', ')}.`;
  return overdue
    ? `The removal of ${overdue.name} is overdue: check its finalizers, and for a pod also its node. ${stillThere}`
    : stillThere;
}

/** Maximum number of ids in one selector, because the selector is part of the URL. */
const BATCH = 50;

/**
 * Removes objects and volumes that belong to deleted deployments and volumes. They exist if a
 * delayed request of a suspended process created them after the deletion.
 *
 * @param deletedIds ids of deleted deployments and volumes
 * @returns the actions taken
 */
export async function removeOrphans(client: KubernetesClient, deletedIds: ReadonlySet<string>): Promise<string[]> {
  const ids = [...deletedIds];
  const actions: string[] = [];
  for (let from = 0; from < ids.length; from += BATCH) {
    actions.push(...(await removeSomeOrphans(client, ids.slice(from, from + BATCH))));
  }
  return actions;
}

async function removeSomeOrphans(client: KubernetesClient, ids: readonly string[]): Promise<string[]> {
  const selectorFor = (key: string) => `${KEYS.managedBy}=fleet,${key} in (${ids.join()})`;
  const actions: string[] = [];
  const applicationIds = new Set<string>();
  for (const object of await listBySelector(client, selectorFor(KEYS.deployment))) {
    const { [KEYS.deployment]: deploymentId = '', [KEYS.application]: applicationId } = object.labels;
    actions.push(...(await removeOwned(client, object, { deploymentId, generation: Number.MAX_SAFE_INTEGER })));
    if (applicationId !== undefined) applicationIds.add(applicationId);
  }
  for (const applicationId of applicationIds) actions.push(...(await removeNames(client, applicationId)));
  for (const { name } of await listBySelector(client, selectorFor(KEYS.storage), ['PersistentVolumeClaim'])) {
    actions.push(...(await deleteVolume(client, name)));
  }
  return actions;
}

import { KEYS } from '../../render/labels.ts';
import { catchFailure } from '../errors.ts';
import type { Fence, Observation } from '../observation.ts';
import { applyAll } from './apply.ts';
import { removeFromCluster, removeOwned } from './cleanup.ts';
import type { KubernetesClient } from './client.ts';
import {
  assertNotSuperseded,
  type DesiredObjects,
  displayNameOf,
  type FoundObject,
  isScaler,
  isWorkload,
  listObjects,
  listOwnedObjects,
  nameOf,
  ownedKinds,
  type ReconcileRun,
  type RunningObjects,
  unlessSuperseded,
} from './objects.ts';
import { observationOf } from './status/status.ts';

/** Reconciles a deployment that should run. */
function reconcileRunning(client: KubernetesClient, desired: RunningObjects, fence: Fence): Promise<Observation> {
  const actions: string[] = [];
  return unlessSuperseded(fence, actions, async () => {
    const found = await findOwned(client, desired, fence);
    assertNotSuperseded(found, fence);
    const run: ReconcileRun = { client, desired, fence, found, actions, awaitedDeletions: [] };
    const failure = await catchFailure(() => applyDesired(run));
    return observationOf(run, await listObjects(client, fence.deploymentId), failure);
  });
}

/**
 * The objects of a deployment. Autoscalers are listed only if it has one, or if the fleet does not
 * set the number of replicas, as while it had one.
 */
async function findOwned(
  client: KubernetesClient,
  { manifest }: RunningObjects,
  { deploymentId }: Fence,
): Promise<FoundObject[]> {
  const found = await listOwnedObjects(client, deploymentId, ownedKinds(client));
  const isScaledByFleet = found.every(
    ({ kind, metadata }) => kind !== 'Deployment' || metadata.annotations?.[KEYS.replicas] !== undefined,
  );
  if (isScaledByFleet && !manifest.objects.some(isScaler)) return found;
  return [...(await listOwnedObjects(client, deploymentId, ['HorizontalPodAutoscaler'])), ...found];
}

/**
 * Obsolete workloads are deleted first, because old and new workloads may use the same volume. So
 * are obsolete autoscalers, before the fleet sets the number of replicas.
 */
async function applyDesired(run: ReconcileRun): Promise<void> {
  const obsolete = run.found.filter((object) => !isDesired(run, object));
  for (const object of obsolete.filter(isScaler)) await prune(run, object);
  for (const object of obsolete.filter(isWorkload)) {
    await prune(run, object);
    run.awaitedDeletions.push(displayNameOf(object));
  }
  const { failure, hasWorkloads } = await applyAll(run);
  // Otherwise the workload can still use them.
  const others = obsolete.filter((object) => !isWorkload(object) && !isScaler(object));
  if (hasWorkloads) for (const object of others) await prune(run, object);
  if (failure) throw failure;
}

const isDesired = ({ desired }: ReconcileRun, { kind, name }: FoundObject): boolean =>
  desired.manifest.objects.some((object) => object.kind === kind && nameOf(object) === name);

async function prune({ client, fence, actions }: ReconcileRun, object: FoundObject): Promise<void> {
  actions.push(...(await removeOwned(client, object, fence)));
}

/**
 * Moves a deployment in a cluster toward its desired state, from any observed state. It can be
 * aborted, repeated and run concurrently. Changes only objects with the labels of this deployment,
 * and volumes of the fleet.
 *
 * @throws EngineFailure if the state cannot be observed, in particular Unreachable; other failures
 * are part of the observation
 */
export function reconcile(client: KubernetesClient, desired: DesiredObjects, fence: Fence): Promise<Observation> {
  const view = client.withSignal(fence.signal);
  return desired.kind === 'running' ? reconcileRunning(view, desired, fence) : removeFromCluster(view, desired, fence);
}

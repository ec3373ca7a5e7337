import { failureOf } from '../errors.ts';
import type { Fence, Observation } from '../observation.ts';
import { applyAll } from './apply.ts';
import { clear, removeOwned } from './cleanup.ts';
import type { KubernetesClient } from './client.ts';
import {
  called,
  demandLatest,
  type Found,
  isWorkload,
  lookAt,
  nameOf,
  objectsOf,
  type Running,
  unlessOvertaken,
  type Wanted,
  type Work,
} from './objects.ts';
import { outcomeOf } from './status.ts';

/** Has a deployment run. */
function run(client: KubernetesClient, wanted: Running, fence: Fence): Promise<Observation> {
  const actions: string[] = [];
  return unlessOvertaken(fence, actions, async () => {
    const found = await objectsOf(client, fence.deploymentId);
    demandLatest(found, fence);
    const work: Work = { client, wanted, fence, found, actions, awaited: [] };
    const trouble = await failureOf(() => converge(work));
    return outcomeOf(work, await lookAt(client, fence.deploymentId), trouble);
  });
}

/** What ran before and runs no more goes first: two of them might want the same volume. */
async function converge(work: Work): Promise<void> {
  const unwanted = work.found.filter((object) => !isWanted(work, object));
  for (const object of unwanted.filter(isWorkload)) {
    await prune(work, object);
    work.awaited.push(called(object));
  }
  await applyAll(work);
  for (const object of unwanted.filter((object) => !isWorkload(object))) await prune(work, object);
}

const isWanted = ({ wanted }: Work, { kind, name }: Found): boolean =>
  wanted.manifest.objects.some((object) => object.kind === kind && nameOf(object) === name);

async function prune({ client, fence, actions }: Work, object: Found): Promise<void> {
  actions.push(...(await removeOwned(client, object, fence)));
}

/**
 * Brings a deployment in a cluster one step nearer to what is wanted, whatever it finds: it may be broken off, repeated
 * and made twice at once. Touches nothing but objects with the labels of this deployment, and volumes of the fleet.
 *
 * @throws EngineFailure where nothing can be known, Unreachable above all; what else goes wrong is in the observation
 */
export function pass(client: KubernetesClient, wanted: Wanted, fence: Fence): Promise<Observation> {
  const view = client.within(fence.signal);
  return wanted.kind === 'running' ? run(view, wanted, fence) : clear(view, wanted, fence);
}

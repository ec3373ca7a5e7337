import { failureOf } from '../errors.ts';
import type { Fence } from '../fence.ts';
import type { Observation } from '../observation.ts';
import { applyAll } from './apply.ts';
import type { Client } from './cluster-client.ts';
import { lookAt } from './look.ts';
import { called, type Found, isWorkload, nameOf, objectsOf } from './objects.ts';
import { outcomeOf } from './outcome.ts';
import { demandLatest, unlessOvertaken } from './overtaken.ts';
import { removeOwned } from './remove.ts';
import type { Running, Work } from './wanted.ts';

/** Has a deployment run. */
export function run(client: Client, wanted: Running, fence: Fence): Promise<Observation> {
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

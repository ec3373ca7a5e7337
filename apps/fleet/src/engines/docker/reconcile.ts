import type { RenderedContainer } from '../../render/docker.ts';
import { eachOf } from '../concurrency.ts';
import { failureOf } from '../errors.ts';
import type { Fence, Observation } from '../observation.ts';
import { clear } from './cleanup.ts';
import type { DockerClient } from './client.ts';
import { containersOf, discard, type Found, type Running, remove, type Wanted, type Work } from './containers.ts';
import { create, gpuMissing, provideImage, start } from './create.ts';
import { planOf, type Step } from './plan.ts';
import { outcomeOf, overtakenBy } from './status.ts';
import { provideVolume } from './volumes.ts';

/** Has a deployment run. */
async function run(client: DockerClient, wanted: Running, fence: Fence): Promise<Observation> {
  const found = await containersOf(client, fence.deploymentId);
  const overtaken = overtakenBy(found, fence);
  if (overtaken) return overtaken;
  const work: Work = { client, wanted, fence, actions: [], troubles: new Map(), volumes: [] };
  await converge(work, found);
  const after = await containersOf(client, fence.deploymentId);
  return overtakenBy(after, fence, work.actions) ?? outcomeOf(work, after);
}

async function converge(work: Work, found: readonly Found[]): Promise<void> {
  const { client, wanted } = work;
  const steps = planOf(found, wanted.manifest, { timing: client.timing, retry: wanted.retry === true });
  const makes = steps.filter((step) => step.do === 'make');
  await eachOf(
    steps.filter((step) => step.do !== 'make'),
    (step) => attempt(work, ordinalOf(step), () => doStep(work, step)),
  );
  const lacking = await failureOf(() => provide(work, makes.length > 0));
  if (lacking) for (const { rendered } of makes) work.troubles.set(rendered.ordinal, lacking);
  else await eachOf(makes, (step) => attempt(work, ordinalOf(step), () => make(work, step)));
}

const ordinalOf = (step: Step): number => (step.do === 'make' ? step.rendered.ordinal : step.found.ordinal);

/** What goes wrong with one container leaves the others alone. */
async function attempt({ troubles }: Work, ordinal: number, work: () => Promise<void>): Promise<void> {
  const trouble = await failureOf(work);
  if (trouble) troubles.set(ordinal, trouble);
}

/** What containers need to be made. */
async function provide({ client, wanted, actions, volumes }: Work, withImage: boolean): Promise<void> {
  const { manifest, bound = [] } = wanted;
  for (const body of manifest.volumes) {
    actions.push(...(await provideVolume(client, body, bound.includes(body.Name))));
    volumes.push(body.Name);
  }
  if (withImage) actions.push(...(await provideImage(client, manifest)));
}

async function doStep(work: Work, step: Exclude<Step, { do: 'make' }>): Promise<void> {
  const { client, actions } = work;
  const { name, id } = step.found;
  if (step.do === 'remove') {
    await remove(client, step.found);
    actions.push(`removed ${name}`);
  } else if (step.do === 'refuse') {
    await discard(client, step.found);
    actions.push(`removed ${name}: it had no GPU`);
    throw gpuMissing(name);
  } else if (step.do === 'unpause') {
    await client.ask({ method: 'POST', path: `/containers/${id}/unpause`, accept: [304, 404] });
    actions.push(`resumed ${name}: it was paused`);
  } else {
    await start(client, id, { deploymentId: work.fence.deploymentId, rendered: step.rendered });
    actions.push(`started ${name}${step.why}`);
  }
}

async function make(work: Work, { rendered, instead }: Extract<Step, { do: 'make' }>): Promise<void> {
  const { client, fence, actions } = work;
  if (instead) await remove(client, instead);
  const id = await create(client, fence.deploymentId, rendered);
  actions.push(whatWasMade(work, rendered, instead));
  await start(client, id, { deploymentId: fence.deploymentId, rendered });
}

function whatWasMade({ wanted }: Work, { name }: RenderedContainer, instead: Found | undefined): string {
  if (instead) return `created ${name} anew: what it runs has changed`;
  return wanted.settled === true ? `created ${name} again: it was gone` : `created ${name}`;
}

/**
 * Brings a deployment on a machine one step nearer to what is wanted, whatever it finds: it may be broken off, repeated
 * and made twice at once. Touches nothing but containers with the labels of this deployment, and volumes of the fleet.
 *
 * @throws EngineFailure where nothing can be known, Unreachable above all; what else goes wrong is in the observation
 */
export function pass(client: DockerClient, wanted: Wanted, fence: Fence): Promise<Observation> {
  const view = client.within(fence.signal);
  return wanted.kind === 'running' ? run(view, wanted, fence) : clear(view, wanted, fence);
}

import type { RenderedContainer } from '../../render/docker.ts';
import { KEYS } from '../../render/labels.ts';
import { mapConcurrently } from '../concurrency.ts';
import { catchFailure } from '../errors.ts';
import type { Fence, Observation } from '../observation.ts';
import { removeFromHost } from './cleanup.ts';
import type { DockerClient } from './client.ts';
import {
  type DesiredContainers,
  type FoundContainer,
  findContainers,
  type ReconcileRun,
  type RunningContainers,
  remove,
  removeNow,
} from './containers.ts';
import { create, ensureImage, gpuMissing, start } from './create.ts';
import { planOf, type Step } from './plan.ts';
import { observationOf, supersededBy } from './status.ts';
import { ensureVolume } from './volumes.ts';

/** Reconciles a deployment that should run. */
async function reconcileRunning(client: DockerClient, desired: RunningContainers, fence: Fence): Promise<Observation> {
  const found = await findContainers(client, fence.deploymentId);
  const superseded = supersededBy(found, fence);
  if (superseded) return superseded;
  const run: ReconcileRun = { client, desired, fence, actions: [], failures: new Map(), volumes: [] };
  const isUnchanged = (await applyPlan(run, found)).length === 0;
  const after = isUnchanged ? found : await findContainers(client, fence.deploymentId);
  return supersededBy(after, fence, run.actions) ?? observationOf(run, after);
}

/** @returns the steps, successful or not */
async function applyPlan(run: ReconcileRun, found: readonly FoundContainer[]): Promise<readonly Step[]> {
  const { client, desired } = run;
  const steps = planOf(found, desired.manifest, { timing: client.timing, retryAfter: desired.retryAfter });
  const creations = steps.filter((step) => step.do === 'create');
  await mapConcurrently(
    steps.filter((step) => step.do !== 'create'),
    (step) => attempt(run, ordinalOf(step), () => runStep(run, step)),
  );
  // A container whose predecessor could not be removed is not created, because both would use the
  // same volumes.
  const possible = creations.filter((step) => !run.failures.has(ordinalOf(step)));
  const failure = await catchFailure(() => ensureVolumesAndImage(run, possible.length > 0));
  if (failure) for (const { rendered } of possible) run.failures.set(rendered.ordinal, failure);
  else await mapConcurrently(possible, (step) => attempt(run, ordinalOf(step), () => createContainer(run, step)));
  return steps;
}

const ordinalOf = (step: Step): number => (step.do === 'create' ? step.rendered.ordinal : step.found.ordinal);

/** Records the failure of one container so that the others are still processed. */
async function attempt({ failures }: ReconcileRun, ordinal: number, run: () => Promise<void>): Promise<void> {
  const failure = await catchFailure(run);
  if (failure) failures.set(ordinal, failure);
}

/**
 * Ensures the prerequisites of containers: their volumes, and the image if a container is to be
 * created.
 */
async function ensureVolumesAndImage(
  { client, desired, fence, actions, volumes }: ReconcileRun,
  withImage: boolean,
): Promise<void> {
  const { manifest, bound = [] } = desired;
  for (const body of manifest.volumes) {
    actions.push(...(await ensureVolume(client, body, bound.includes(body.Name))));
    volumes.push(body.Name);
  }
  if (withImage) actions.push(...(await ensureImage(client, manifest, fence)));
}

async function runStep(run: ReconcileRun, step: Exclude<Step, { do: 'create' }>): Promise<void> {
  const { client, actions } = run;
  const { name, id } = step.found;
  if (step.do === 'remove') {
    await remove(client, step.found);
    actions.push(`removed ${name}`);
  } else if (step.do === 'reportMissingGpu') {
    await removeNow(client, step.found);
    actions.push(`removed ${name}: it had no GPU`);
    throw gpuMissing(name);
  } else if (step.do === 'unpause') {
    await client.request({ method: 'POST', path: `/containers/${id}/unpause`, accept: [304, 404] });
    actions.push(`resumed ${name}: it was paused`);
  } else {
    await start(client, id, { deploymentId: run.fence.deploymentId, rendered: step.rendered });
    actions.push(`started ${name}${step.why}`);
  }
}

async function createContainer(
  run: ReconcileRun,
  { rendered, replaces }: Extract<Step, { do: 'create' }>,
): Promise<void> {
  const { client, fence, actions } = run;
  if (replaces) await remove(client, replaces);
  const id = await create(client, fence.deploymentId, rendered);
  actions.push(actionOfCreation(run, rendered, replaces));
  await start(client, id, { deploymentId: fence.deploymentId, rendered });
}

function actionOfCreation(
  { desired }: ReconcileRun,
  { name, body }: RenderedContainer,
  replaces: FoundContainer | undefined,
): string {
  if (replaces) return `created ${name} again: ${whyReplaced(body.Labels, replaces.details.Config.Labels)}`;
  return desired.settled === true ? `created ${name} again: it was missing` : `created ${name}`;
}

type Labels = Readonly<Record<string, string>>;

const CHANGES: readonly (readonly [label: string, text: string])[] = [
  [KEYS.restartedAt, 'a restart was requested'],
  [KEYS.secretVersions, 'values of its secrets have changed'],
  [KEYS.revision, 'the revision of its workload has changed'],
];

/** Why a container is replaced, as far as its labels show it. */
function whyReplaced(wanted: Labels, found: Labels): string {
  const changes = CHANGES.filter(([label]) => wanted[label] !== found[label]).map(([, text]) => text);
  return changes.length === 0 ? 'its configuration has changed' : changes.join(', and ');
}

/**
 * Moves a deployment on a host toward its desired state, from any observed state. It can be
 * aborted, repeated and run concurrently. Changes only containers with the labels of this
 * deployment, and volumes of the fleet.
 *
 * @throws EngineFailure if the state cannot be observed, in particular Unreachable; other failures
 * are part of the observation
 */
export function reconcile(client: DockerClient, desired: DesiredContainers, fence: Fence): Promise<Observation> {
  const view = client.withSignal(fence.signal);
  return desired.kind === 'running' ? reconcileRunning(view, desired, fence) : removeFromHost(view, desired, fence);
}

import type { RenderedContainer } from '../../render/docker.ts';
import { KEYS } from '../../render/labels.ts';
import { mapConcurrently } from '../concurrency.ts';
import { catchFailure, type EngineFailure } from '../errors.ts';
import type { Fence, Observation } from '../observation.ts';
import { removeFromHost } from './cleanup.ts';
import type { DockerClient } from './client.ts';
import {
  type DesiredContainers,
  type FoundContainer,
  findContainers,
  inspectContainers,
  type ReconcileRun,
  type RunningContainers,
  remove,
  removeNow,
} from './containers.ts';
import { create, discard, gpuMissing, isInitMissing, start } from './create.ts';
import { placeFiles } from './files/place.ts';
import { ensureImage, imageLabels, imageOfContainers, pullRequestedImage, refuseRoot } from './images.ts';
import { ensureNetwork } from './objects/networks.ts';
import { ensureVolume } from './objects/volumes.ts';
import { isCurrent, isNeverStarted, pairByOrdinal, planOf, type Step } from './plan.ts';
import { observationOf, redactorFor, supersededBy } from './status.ts';

/** Reconciles a deployment that should run. */
async function reconcileRunning(client: DockerClient, desired: RunningContainers, fence: Fence): Promise<Observation> {
  const found = await findBefore(client, desired, fence);
  const superseded = supersededBy(found, fence);
  if (superseded) return superseded;
  const { image } = desired;
  const run: ReconcileRun = {
    client,
    desired,
    fence,
    actions: [],
    failures: new Map(),
    volumes: [],
    networks: [],
    leaving: [],
    created: [],
    removed: new Set(),
    image,
  };
  const isUnchanged = (await applyPlan(run, found)).every((step) => step.do === 'withdraw');
  const after = isUnchanged ? found : await findAfter(run, found);
  return supersededBy(after, fence, run.actions) ?? observationOf(run, after, found);
}

/**
 * The containers before the steps. Those that are known are inspected by their
 * names. If one of them is missing, or something else has its name, all are listed.
 */
async function findBefore(client: DockerClient, { manifest, areKnown }: RunningContainers, fence: Fence) {
  if (areKnown === true) {
    const names = manifest.containers.map(({ name }) => name);
    const found = await inspectContainers(client, names, fence.deploymentId);
    if (found.length === names.length) return found;
  }
  return findContainers(client, fence.deploymentId);
}

/**
 * The containers after the steps. If all steps succeeded, the ids of the containers are known. A
 * failed step can have created a container whose id is not known.
 */
function findAfter({ client, fence, failures, created, removed }: ReconcileRun, before: readonly FoundContainer[]) {
  if (failures.size > 0) return findContainers(client, fence.deploymentId);
  const ids = new Set([...before.map(({ id }) => id), ...created]);
  const left = [...ids].filter((id) => !removed.has(id));
  return inspectContainers(client, left, fence.deploymentId);
}

async function removeIn({ client, removed }: ReconcileRun, found: FoundContainer): Promise<void> {
  if (await remove(client, found)) removed.add(found.id);
}

/** @returns the steps, successful or not */
async function applyPlan(run: ReconcileRun, found: readonly FoundContainer[]): Promise<readonly Step[]> {
  const { client, desired } = run;
  const imageFailure = await chooseImage(run, found);
  const steps = planOf(found, desired.manifest, {
    timing: client.timing,
    retryAfter: desired.retryAfter,
    image: run.image?.id,
    rollout: desired.rollout,
  });
  const starts = steps.filter((step) => step.do === 'create' || step.do === 'start');
  const noNetwork = starts.length === 0 ? undefined : await catchFailure(() => ensureNetworks(run));
  if (noNetwork) for (const step of starts) run.failures.set(ordinalOf(step), noNetwork);
  const creations = steps.filter((step) => step.do === 'create');
  await mapConcurrently(
    steps.filter((step) => step.do !== 'create').filter((step) => !(noNetwork && step.do === 'start')),
    (step) => attempt(run, ordinalOf(step), () => runStep(run, step)),
  );
  // A container whose predecessor could not be removed is not created, because both would use the
  // same volumes.
  const possible = creations.filter((step) => !run.failures.has(ordinalOf(step)));
  const failure = imageFailure ?? (await catchFailure(() => ensureVolumes(run)));
  if (failure) {
    const affected = imageFailure ? desired.manifest.containers : possible.map(({ rendered }) => rendered);
    for (const { ordinal } of affected) run.failures.set(ordinal, failure);
    return steps;
  }
  let image = desired.manifest.image;
  const noImage = await catchFailure(async () => {
    if (possible.length === 0) return;
    image = await ensureImage(run);
    if (desired.manifest.needsUserOfImage) await refuseRoot(client, image);
  });
  if (noImage) for (const step of possible) run.failures.set(ordinalOf(step), noImage);
  else
    await mapConcurrently(possible, (step) => attempt(run, ordinalOf(step), () => createContainer(run, step, image)));
  return steps;
}

/**
 * Pulls the image if the generation requests it. Otherwise determines the image of containers that were
 * created without a record of it. @returns the failure of the pull
 */
async function chooseImage(run: ReconcileRun, found: readonly FoundContainer[]): Promise<EngineFailure | undefined> {
  const { client, desired, fence } = run;
  const { manifest } = desired;
  if (desired.requestsPull) return catchFailure(() => pullRequestedImage(run, redactorFor(manifest)));
  if (run.image !== undefined) return undefined;
  const current = pairByOrdinal(found, manifest).pairs.filter((pair) => isCurrent(pair));
  run.image = await imageOfContainers(
    client,
    current.flatMap((pair) => pair.found ?? []),
    manifest.image,
  );
  if (run.image) fence.recordImage?.(run.image);
  return undefined;
}

const ordinalOf = (step: Step): number => (step.do === 'create' ? step.rendered.ordinal : step.found.ordinal);

/** Records the failure of one container so that the others are still processed. */
async function attempt({ failures }: ReconcileRun, ordinal: number, run: () => Promise<void>): Promise<void> {
  const failure = await catchFailure(run);
  if (failure) failures.set(ordinal, failure);
}

async function ensureVolumes({ client, desired, actions, volumes }: ReconcileRun): Promise<void> {
  const { manifest, bound = [] } = desired;
  for (const body of manifest.volumes) {
    actions.push(...(await ensureVolume(client, body, bound.includes(body.Name))));
    volumes.push(body.Name);
  }
}

async function ensureNetworks({ client, desired, actions, networks }: ReconcileRun): Promise<void> {
  for (const body of desired.manifest.networks ?? []) {
    const ensured = await ensureNetwork(client, body, desired.networks?.includes(body.Id) ?? false);
    networks.push(ensured.found);
    actions.push(...ensured.actions);
  }
}

async function runStep(run: ReconcileRun, step: Exclude<Step, { do: 'create' }>): Promise<void> {
  const { client, actions } = run;
  const { name, id } = step.found;
  if (step.do === 'withdraw') {
    run.leaving.push(name);
  } else if (step.do === 'remove') {
    await removeIn(run, step.found);
    actions.push(`removed ${name}`);
  } else if (step.do === 'reportMissingGpu') {
    await removeNow(client, step.found);
    actions.push(`removed ${name}: it had no GPU`);
    throw gpuMissing(name);
  } else if (step.do === 'unpause') {
    await client.request({ method: 'POST', path: `/containers/${id}/unpause`, accept: [304, 404] });
    actions.push(`resumed ${name}: it was paused`);
  } else {
    const { rendered, isOutdated = false } = step;
    // An interrupted pass can have created the container without its files.
    if (isNeverStarted(step.found)) await placeFiles(client, step.found, run.desired.manifest.files);
    await start(client, id, { deploymentId: run.fence.deploymentId, rendered, isOutdated });
    if (!step.isRetry) actions.push(`started ${name}${step.why}`);
  }
}

async function createContainer(
  run: ReconcileRun,
  { rendered: { body, ...named }, replaces }: Extract<Step, { do: 'create' }>,
  Image: string,
): Promise<void> {
  const { client, fence } = run;
  if (replaces) await removeIn(run, replaces);
  const rendered = { ...named, body: { ...body, Image, Labels: { ...body.Labels, ...imageLabels(run.image) } } };
  try {
    await createAndStart(run, rendered, actionOfCreation(run, rendered, replaces));
  } catch (error) {
    if (!isInitMissing(error)) throw error;
    const { Init: _, ...HostConfig } = rendered.body.HostConfig;
    const withoutInit = { ...rendered, body: { ...rendered.body, HostConfig } };
    await discard(client, fence.deploymentId, rendered.name);
    const action = `created ${rendered.name} without an init process: its host has none (catatonit or docker-init)`;
    await createAndStart(run, withoutInit, action);
  }
}

async function createAndStart(
  { client, desired, fence: { deploymentId }, actions, created }: ReconcileRun,
  rendered: RenderedContainer,
  action: string,
): Promise<void> {
  const id = await create(client, deploymentId, rendered);
  created.push(id);
  actions.push(action);
  await placeFiles(client, { id, name: rendered.name }, desired.manifest.files);
  await start(client, id, { deploymentId, rendered });
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
  [KEYS.files, 'its files have changed'],
  [KEYS.revision, 'the revision of its workload has changed'],
  [KEYS.image, 'its image has changed'],
];

/** Why a container is replaced, as far as its labels show it. */
function whyReplaced(wanted: Labels, found: Labels): string {
  const isChanged = (label: string) => wanted[label] !== found[label] && (label !== KEYS.image || label in found);
  const changes = CHANGES.filter(([label]) => isChanged(label)).map(([, text]) => text);
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

import type { KubernetesObject } from '../../render/kubernetes.ts';
import { KEYS } from '../../render/labels.ts';
import { isNameService } from '../../render/networks/isolation.ts';
import { catchFailure, EngineFailure, Permanent, Transient } from '../errors.ts';
import { removeOwned } from './cleanup.ts';
import type { KubernetesClient } from './client.ts';
import { isConflict, isImmutableField, isNamespaceMissing } from './errors.ts';
import {
  applyObject,
  displayNameOf,
  ensureNamespace,
  type FoundObject,
  isWorkload,
  nameOf,
  type ReconcileRun,
  readObject,
  Superseded,
} from './objects.ts';
import { planScale, type Step } from './scaling.ts';

/**
 * Controllers update their objects frequently. After each update, the version that was read is out
 * of date.
 */
const MAX_ATTEMPTS = 5;

/** What could not be applied. */
interface Applied {
  /** The failure of the first object. */
  readonly failure: EngineFailure | undefined;
  /** Whether the workloads were applied, or have failed themselves. */
  readonly hasWorkloads: boolean;
}

/**
 * Applies the objects of a deployment in order. An object that the cluster refuses does not prevent
 * the others from being applied, except that workloads wait for objects that their pods need, and
 * for the deletion of objects.
 *
 * @throws Superseded, Unreachable
 */
export async function applyAll(run: ReconcileRun): Promise<Applied> {
  let failure: EngineFailure | undefined;
  let hasPrerequisites = true;
  for (const object of run.desired.manifest.objects) {
    if (isWorkload(object) && (run.awaitedDeletions.length > 0 || !hasPrerequisites)) {
      return { failure, hasWorkloads: false };
    }
    const refusal = await catchFailure(async () => apply(run, object, await findExisting(run, object)));
    if (refusal && !isDispensable(object, refusal)) failure ??= refusal;
    if (refusal && !canRunWithout(run, object, refusal)) hasPrerequisites = false;
  }
  return { failure, hasWorkloads: true };
}

/**
 * Whether a deployment is as desired without an object: a budget or network policy that the cluster no
 * longer permits or has. The next check finds that, and none is desired any more.
 */
const isDispensable = ({ kind }: KubernetesObject, { response }: EngineFailure): boolean =>
  OPTIONAL.includes(kind) && (response?.status === 403 || response?.status === 404);

const OPTIONAL: readonly KubernetesObject['kind'][] = ['PodDisruptionBudget', 'NetworkPolicy'];

/** Whether pods can be started although an object could not be applied. */
function canRunWithout({ desired }: ReconcileRun, object: KubernetesObject, { reason }: EngineFailure): boolean {
  if (object.kind === 'Secret') return false;
  if (object.kind !== 'PersistentVolumeClaim') return true;
  // The volume exists, and only its change was refused.
  const isBound = desired.bound?.includes(nameOf(object)) === true;
  return isBound && reason !== 'VolumeLost' && reason !== 'NameConflict';
}

const findExisting = async ({ client, found }: ReconcileRun, { kind, metadata }: KubernetesObject) =>
  found.find((object) => object.kind === kind && object.name === metadata?.name) ??
  (await readObject(client, kind, metadata?.name ?? ''));

async function apply(
  run: ReconcileRun,
  object: KubernetesObject,
  before: FoundObject | undefined,
  attempts = MAX_ATTEMPTS,
): Promise<void> {
  const { client, actions, awaitedDeletions } = run;
  assertOwned(run, object, before);
  if (before?.deletionTime) {
    awaitedDeletions.push(displayNameOf(before));
    return;
  }
  try {
    const after = await applySteps(run, object, before);
    actions.push(...actionsOfApply(run, before, after));
    if (after.phase === 'Lost') throw volumeLost(after.name);
  } catch (error) {
    if (attempts > 1 && (isConflict(error) || isFieldConflict(error))) {
      const now = await readObject(client, object.kind, nameOf(object));
      // A conflict about fields is reported before the version is compared.
      const isStale = isConflict(error) || now?.resourceVersion !== before?.resourceVersion;
      if (isStale) return apply(run, object, now, attempts - 1);
    }
    if (isNamespaceMissing(error, client.address.namespace) && attempts === MAX_ATTEMPTS) {
      actions.push(...(await ensureNamespace(client)));
      return apply(run, object, undefined, attempts - 1);
    }
    if (before && isImmutableField(error)) return replace(run, before);
    throw error;
  }
}

/** Applies an object, unless this process has applied the same and nothing changed since. */
async function applySteps(
  run: ReconcileRun,
  object: KubernetesObject,
  before: FoundObject | undefined,
): Promise<FoundObject> {
  const { client, desired } = run;
  if (object.kind !== 'Deployment') {
    const isCurrent = before && desired.takeOver !== true && client.applied.isCurrent(object, before.metadata);
    return isCurrent ? before : applyObject(client, object, { before, force: desired.takeOver === true });
  }
  const { steps, ...scale } = planScale(object, before, desired);
  let after = before && isApplied(client, steps, before) ? before : undefined;
  if (!after) {
    after = before;
    for (const { body, ...how } of steps) after = await applyObject(client, body, { ...how, before: after });
  }
  if (!after) throw new Error('a Deployment was not applied');
  const number = after.metadata.annotations?.[KEYS.replicas];
  if (scale.isKept && number !== before?.metadata.annotations?.[KEYS.replicas]) {
    run.actions.push(`took over ${number} replicas of ${displayNameOf(after)}`);
  }
  run.scale = { ...scale, replicas: after.replicas ?? 1 };
  return after;
}

/** Whether the only step would change nothing. */
function isApplied(
  { applied }: KubernetesClient,
  steps: readonly Step[],
  { metadata, replicas }: FoundObject,
): boolean {
  const [step, ...others] = steps;
  if (!step || step.force || others.length > 0) return false;
  const number = step.body.spec?.replicas;
  return (number === undefined || number === replicas) && applied.isCurrent(step.body, metadata);
}

/**
 * @throws if the object is a lost volume, does not belong to the deployment, or was applied for a
 * later generation
 */
function assertOwned(
  { fence, desired }: ReconcileRun,
  object: KubernetesObject,
  before: FoundObject | undefined,
): void {
  if (!before) {
    assertNotLost(desired.bound ?? [], object);
    return;
  }
  const key = ownerKeyOf(object);
  const isOwned = before.labels[KEYS.managedBy] === 'fleet' && before.labels[key] === object.metadata?.labels?.[key];
  if (!isOwned) {
    throw new Transient(
      'NameConflict',
      `${displayNameOf(before)} exists, but was not created for this deployment, application or volume. It was not changed.`,
    );
  }
  if (before.generation > fence.generation) throw new Superseded(before.generation);
}

/** The key of the label with the id of what an object belongs to. */
function ownerKeyOf(object: KubernetesObject): string {
  if (object.kind === 'PersistentVolumeClaim') return KEYS.storage;
  return isNameService(object) ? KEYS.application : KEYS.deployment;
}

function assertNotLost(bound: readonly string[], object: KubernetesObject): void {
  const name = nameOf(object);
  if (object.kind !== 'PersistentVolumeClaim' || !bound.includes(name)) return;
  throw new Permanent('VolumeLost', `The volume ${name} no longer exists in its cluster. Its data is lost.`);
}

function actionsOfApply({ desired }: ReconcileRun, before: FoundObject | undefined, after: FoundObject): string[] {
  if (!before) return [`created ${displayNameOf(after)}${desired.settled === true ? ' again: it was missing' : ''}`];
  return before.resourceVersion === after.resourceVersion ? [] : [`changed ${displayNameOf(after)}`];
}

const isFieldConflict = (error: unknown): boolean => error instanceof EngineFailure && error.reason === 'FieldConflict';

const volumeLost = (name: string) =>
  new Permanent('VolumeLost', `The cluster reports that the data of the volume ${name} is lost.`);

/**
 * Deletes an object that must be created again. A volume is not replaced, because the new one would
 * be empty. A job of the current generation is not replaced, because it has already run or is
 * running.
 */
async function replace(run: ReconcileRun, before: FoundObject): Promise<void> {
  if (before.kind === 'Job' && before.generation === run.fence.generation) return;
  if (before.kind === 'PersistentVolumeClaim') {
    throw new Permanent('InvalidSpec', `The volume ${before.name} cannot be changed in this way.`);
  }
  const removed = await removeOwned(run.client, before, run.fence);
  run.actions.push(
    ...removed.map((action) => `${action}: it must be replaced, because an immutable field has changed`),
  );
  run.awaitedDeletions.push(displayNameOf(before));
}

import type { KubernetesObject } from '../../render/kubernetes.ts';
import { KEYS } from '../../render/labels.ts';
import { EngineFailure, Permanent, Transient } from '../errors.ts';
import { removeOwned } from './cleanup.ts';
import { changedMeanwhile, lacksNamespace } from './errors.ts';
import {
  applyObject,
  called,
  type Found,
  isWorkload,
  nameOf,
  Overtaken,
  objectCalled,
  provideNamespace,
  type Work,
} from './objects.ts';

/** Controllers write to what they run all the time; each time what was found is out of date. */
const TRIES = 5;

/**
 * Applies the objects of a deployment in their order. One that waits for something to be gone holds up those after it.
 *
 * @throws Overtaken, and EngineFailure for the first that can't be applied
 */
export async function applyAll(work: Work): Promise<void> {
  for (const object of work.wanted.manifest.objects) {
    if (isWorkload(object) && work.awaited.length > 0) return;
    await apply(work, object, await whatIsThere(work, object));
  }
}

const whatIsThere = async ({ client, found }: Work, { kind, metadata }: KubernetesObject) =>
  found.find((it) => it.kind === kind && it.name === metadata?.name) ??
  (await objectCalled(client, kind, metadata?.name ?? ''));

async function apply(work: Work, object: KubernetesObject, before: Found | undefined, tries = TRIES): Promise<void> {
  const { client, wanted, actions, awaited } = work;
  demandOurs(work, object, before);
  if (before?.leaving) {
    awaited.push(called(before));
    return;
  }
  try {
    const after = await applyObject(client, object, { before, force: wanted.takeOver === true });
    actions.push(...whatWasDone(work, before, after));
    if (after.phase === 'Lost') throw lost(after.name);
  } catch (error) {
    if (changedMeanwhile(error) && tries > 1) {
      return apply(work, object, await objectCalled(client, object.kind, nameOf(object)), tries - 1);
    }
    if (lacksNamespace(error, client.address.namespace) && tries === TRIES) {
      actions.push(...(await provideNamespace(client)));
      return apply(work, object, undefined, tries - 1);
    }
    if (before && isFixed(error)) return replace(work, before);
    throw error;
  }
}

/** @throws where it is somebody else's, or was made for a later generation */
function demandOurs({ fence, wanted }: Work, object: KubernetesObject, before: Found | undefined): void {
  if (!before) {
    demandNotLost(wanted.bound ?? [], object);
    return;
  }
  const key = object.kind === 'PersistentVolumeClaim' ? KEYS.storage : KEYS.deployment;
  const isOurs = before.labels[KEYS.managedBy] === 'fleet' && before.labels[key] === object.metadata?.labels?.[key];
  if (!isOurs) {
    throw new Transient(
      'NameConflict',
      `Something that is not the fleet's is called ${called(before)}; it was left alone.`,
    );
  }
  if (before.generation > fence.generation) throw new Overtaken(before.generation);
}

function demandNotLost(bound: readonly string[], object: KubernetesObject): void {
  const name = nameOf(object);
  if (object.kind !== 'PersistentVolumeClaim' || !bound.includes(name)) return;
  throw new Permanent('VolumeLost', `The volume ${name} is gone from its cluster, with what was in it.`);
}

function whatWasDone({ wanted }: Work, before: Found | undefined, after: Found): string[] {
  if (!before) return [`created ${called(after)}${wanted.settled === true ? ' again: it was gone' : ''}`];
  return before.resourceVersion === after.resourceVersion ? [] : [`changed ${called(after)}`];
}

const lost = (name: string) =>
  new Permanent('VolumeLost', `The volume ${name} has lost what was in it: its cluster says so.`);

/** Whether a field was to be changed that never can be. */
const isFixed = (error: unknown): boolean =>
  error instanceof EngineFailure && error.answer?.status === 422 && /is immutable/.test(error.answer.said);

/**
 * Makes way for an object that has to be made anew. A volume would be empty then; and a job of this very generation is
 * run, or was: nobody asked for it to be run again.
 */
async function replace(work: Work, before: Found): Promise<void> {
  if (before.kind === 'Job' && before.generation === work.fence.generation) return;
  if (before.kind === 'PersistentVolumeClaim') {
    throw new Permanent('InvalidSpec', `The volume ${before.name} can't be changed in this way.`);
  }
  const removed = await removeOwned(work.client, before, work.fence);
  work.actions.push(...removed.map((action) => `${action}: it is made anew, as it can't be changed`));
  work.awaited.push(called(before));
}

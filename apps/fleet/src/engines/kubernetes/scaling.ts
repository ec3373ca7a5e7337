import type { V1ManagedFieldsEntry } from '@kubernetes/client-node';
import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment';
import { KEYS } from '../../render/labels.ts';
import type { ObservedScale } from '../observation.ts';
import { HANDOVER_MANAGER, isOfFleet } from './applied.ts';
import type { FoundObject, Scaling } from './objects.ts';

const BY_FLEET: Scaling = { by: 'fleet', handover: null, minimum: 1 };

/** An apply. By default, its field manager is that of the fleet. */
export interface Step {
  readonly body: IDeployment;
  readonly force: boolean;
  readonly manager?: string;
}

interface ScalePlan extends Omit<ObservedScale, 'replicas'> {
  /** In this order, each on the result of the one before it. */
  readonly steps: readonly Step[];
}

interface Wanted {
  readonly scaling?: Scaling | undefined;
  readonly takeOver?: boolean | undefined;
}

/**
 * How to apply a Deployment so that nobody's number of replicas is undone.
 *
 * - The fleet sets the number only if the present one is its own, and states it in an annotation as
 *   well: clusters before version 1.22 do not record who has scaled a Deployment.
 * - Otherwise the fleet does not state the number. If it owns the field alone, another manager
 *   receives the present number first, because a field without a manager gets its default.
 * - A number that others own with the same value is changed with force, after an apply that states
 *   the present one. This apply fails if another field has a conflict, and the second one fails if
 *   the object has changed since, so that nothing else is forced.
 */
export function planScale(
  object: IDeployment,
  before: FoundObject | undefined,
  { scaling = BY_FLEET, takeOver = false }: Wanted,
): ScalePlan {
  const desired = object.spec?.replicas ?? 1;
  const kept = { manager: null, isKept: false };
  if (!before) {
    const body = scaling.by === 'fleet' ? withNumber(object, desired) : object;
    return { ...kept, steps: [{ body, force: takeOver }] };
  }
  const present = before.replicas ?? 1;
  const owners = ownersOf(before);
  if (scaling.by === 'cluster') return { ...kept, steps: stepsWithoutNumber(object, { before, owners, takeOver }) };
  if (scaling.handover === 'keep') {
    return { manager: null, isKept: true, steps: [{ body: withNumber(object, present), force: takeOver }] };
  }
  if (takeOver) return { ...kept, steps: [{ body: withNumber(object, desired), force: true }] };
  if (scaling.handover === 'set' || present === desired || isSetByFleet(before, owners)) {
    return { ...kept, steps: stepsWithNumber(object, { desired, present, owners }) };
  }
  const manager = nameOfScaler(owners);
  return { manager, isKept: false, steps: stepsWithoutNumber(object, { before, owners, takeOver: false }) };
}

interface Owners {
  /** Whether the fleet owns the number. It does if the server does not return who owns it. */
  readonly isFleet: boolean;
  readonly others: readonly V1ManagedFieldsEntry[];
}

function ownersOf({ metadata: { managedFields = [] } }: FoundObject): Owners {
  const owning = managedFields.filter(ownsNumber);
  return {
    isFleet: managedFields.length === 0 || owning.some(isOfFleet),
    others: owning.filter((entry) => !isOfFleet(entry)),
  };
}

/** Who has set the number. A cluster before version 1.22 does not record it. */
const nameOfScaler = ({ others }: Owners): string =>
  others.find(({ manager }) => manager !== HANDOVER_MANAGER)?.manager ?? 'another program';

function ownsNumber({ fieldsV1 }: V1ManagedFieldsEntry): boolean {
  // The format of managed fields is that of Kubernetes: a member `f:<name>` for each owned field.
  const fields = fieldsV1 as { readonly 'f:spec'?: { readonly 'f:replicas'?: object } } | undefined;
  return fields?.['f:spec']?.['f:replicas'] !== undefined;
}

/** Whether nobody has changed the number since the fleet set it. */
function isSetByFleet({ metadata, replicas = 1 }: FoundObject, { isFleet }: Owners): boolean {
  const set = metadata.annotations?.[KEYS.replicas];
  return set === undefined ? isFleet : set === String(replicas);
}

interface Numbers {
  readonly desired: number;
  readonly present: number;
  readonly owners: Owners;
}

function stepsWithNumber(object: IDeployment, { desired, present, owners }: Numbers): Step[] {
  const step = { body: withNumber(object, desired), force: false };
  if (desired === present || owners.others.length === 0) return [step];
  return [
    { body: withNumber(object, present), force: false },
    { ...step, force: true },
  ];
}

interface WithoutNumber {
  readonly before: FoundObject;
  readonly owners: Owners;
  /** Whether to take over other fields. */
  readonly takeOver: boolean;
}

function stepsWithoutNumber(object: IDeployment, { before, owners, takeOver }: WithoutNumber): Step[] {
  const { spec, ...rest } = object;
  if (!spec) return [];
  const { replicas: _, ...withoutReplicas } = spec;
  const step = { body: { ...rest, spec: withoutReplicas }, force: takeOver };
  const isOnlyOwner = owners.isFleet && owners.others.length === 0;
  return isOnlyOwner ? [handover(object, before.replicas ?? 1), step] : [step];
}

/** Lets another field manager own the present number. */
function handover({ apiVersion, kind, metadata }: IDeployment, replicas: number): Step {
  const { name, namespace } = metadata ?? {};
  // An apply can contain any part of an object that exists.
  const body = { apiVersion, kind, metadata: { name, namespace }, spec: { replicas } } as IDeployment;
  return { body, force: false, manager: HANDOVER_MANAGER };
}

function withNumber({ metadata, spec, ...object }: IDeployment, replicas: number): IDeployment {
  const annotations = { ...metadata?.annotations, [KEYS.replicas]: String(replicas) };
  return { ...object, metadata: { ...metadata, annotations }, ...(spec && { spec: { ...spec, replicas } }) };
}

import { DEFAULT_VOLUME_SIZE, type Target } from '@svc/contract/fleet';
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import type { Prisma } from '../generated/prisma/client.ts';
import { isSameSize } from '../placement/quantities.ts';
import type { BoundVolume } from '../render/rendering.ts';
import { isUuid } from '../resources/kind.ts';
import { targetOf } from '../resources/targets.ts';
import type { Draft, VolumeRequest } from './draft.ts';
import { hasPendingVolume, NOTHING_PENDING, type Pending, pendingVolume } from './plans/pending.ts';
import type { Refusal } from './refusals.ts';

/**
 * The volume of a mount. `isNew`: its row does not exist yet. `isAttached`: the deployment already
 * has it.
 */
export interface MountedVolume extends BoundVolume {
  /** Those of the deployment, if the volume is new. */
  readonly labels: Readonly<Record<string, string>>;
  readonly isNew: boolean;
  readonly isAttached: boolean;
  readonly boundTo: Target | undefined;
  /** The name of another deployment that has the volume attached. */
  readonly attachedTo: string | undefined;
  /** The lost volume that it replaces. */
  readonly replaces?: LostVolume | undefined;
}

/** A volume whose loss a request accepts. */
interface LostVolume {
  readonly id: string;
  readonly name: string;
  readonly size: string;
}

type Reader = Pick<Prisma.TransactionClient, 'volume' | 'attachment'>;

interface VolumeContext {
  readonly reader: Reader;
  readonly draft: Draft;
  readonly pending: Pending;
}

const storedLabels = z.record(z.string(), z.string());

/**
 * Determines the volume of each mount of a deployment. A mount keeps its attached volume; a
 * requested volume must exist; all other mounts get new volumes.
 */
export async function mountVolumes(
  reader: Reader,
  draft: Draft,
  pending: Pending = NOTHING_PENDING,
): Promise<{ mounted: MountedVolume[]; refusals: Refusal[] }> {
  const context = { reader, draft, pending };
  const mounts = [...new Set(draft.workload.spec.volume_mounts.map(({ name }) => name))];
  const attached = mounts.length === 0 ? [] : await reader.attachment.findMany({ where: { deployment_id: draft.id } });
  const refusals: Refusal[] = [
    ...Object.keys(draft.volumes).map((name) => ({ name, path: `volumes.${name}` })),
    ...draft.acceptedLosses.map((name, index) => ({ name, path: `accept_loss.${index}` })),
  ]
    .filter(({ name }) => !mounts.includes(name))
    .map(({ path }) => ({
      code,
      path,
      message: `is not a volume mount of this workload, which has ${mounts.join(', ') || 'none'}`,
    }));
  const mounted: MountedVolume[] = [];
  for (const mount of mounts) {
    const currentVolume = attached.find((each) => each.mount === mount)?.volume_id;
    const requested = draft.volumes[mount] ?? {};
    const found = draft.acceptedLosses.includes(mount)
      ? await replaceVolume(context, { mount, currentVolume, requested })
      : await mountVolume(context, { mount, currentVolume, requested });
    if ('code' in found) refusals.push(found);
    else mounted.push(found);
  }
  return { mounted, refusals };
}

interface MountRequest {
  readonly mount: string;
  /** The id of the volume that is already attached. */
  readonly currentVolume: string | undefined;
  readonly requested: VolumeRequest;
}

/** The volume that replaces the lost volume of a mount: by default a new one of the same size. */
async function replaceVolume(
  context: VolumeContext,
  { mount, currentVolume, requested }: MountRequest,
): Promise<MountedVolume | Refusal> {
  const { reader, draft } = context;
  const lost = currentVolume === undefined ? null : await reader.volume.findUnique({ where: { id: currentVolume } });
  if (lost?.phase !== 'lost') {
    const message = `names the mount ${mount}, ${lost ? `whose volume ${lost.name} is not lost: its phase is ${lost.phase}` : 'which has no volume'}`;
    return { code, path: `accept_loss.${draft.acceptedLosses.indexOf(mount)}`, message };
  }
  const { storage_id } = requested;
  if (storage_id === lost.id) return refusal(mount, `names the volume ${storage_id}, which is lost`);
  const replacement = storage_id === undefined ? { size: requested.size ?? lost.size } : requested;
  const found = await mountVolume(context, { mount, currentVolume: undefined, requested: replacement });
  if ('code' in found) return found;
  return { ...found, replaces: { id: lost.id, name: lost.name, size: lost.size } };
}

async function mountVolume(
  context: VolumeContext,
  { mount, currentVolume, requested }: MountRequest,
): Promise<MountedVolume | Refusal> {
  if (currentVolume !== undefined && requested.storage_id !== undefined && requested.storage_id !== currentVolume) {
    return refusal(mount, `has the volume ${currentVolume}, which cannot be changed`);
  }
  const id = currentVolume ?? requested.storage_id;
  if (id === undefined) {
    const { size = DEFAULT_VOLUME_SIZE, shared_id } = requested;
    return newVolume(context, { mount, size, sharedId: shared_id });
  }
  const volume = isUuid(id) ? await readVolume(context, id) : undefined;
  if (!volume) return refusal(mount, `names the volume ${id}, which does not exist`);
  const { name, size } = volume;
  if (requested.size !== undefined && !isSameSize(requested.size, size)) {
    const remedy = `change its size with PUT /api/v1/storage/${id}`;
    return refusal(mount, `has the volume ${name} of ${size}, whose size a deployment does not change; ${remedy}`);
  }
  return { ...volume, mount, id, isNew: false, isAttached: currentVolume !== undefined };
}

/** An existing volume, with the other deployment that has it attached. */
async function readVolume({ reader, draft, pending }: VolumeContext, id: string) {
  const planned = pendingVolume(pending, { id, except: draft.id });
  const stored = await reader.volume.findUnique({
    where: { id },
    include: { attachments: { where: { deployment_id: { not: draft.id } }, include: { deployment: true } } },
  });
  const volume = stored ?? planned?.volume;
  if (!volume) return undefined;
  const { name, size, access_mode, storage_class } = volume;
  return {
    ...{ name, size, access_mode, storage_class, labels: storedLabels.parse(volume.labels) },
    boundTo: (stored && targetOf(stored)) ?? planned?.deployment.target ?? undefined,
    attachedTo: stored?.attachments[0]?.deployment.name ?? planned?.deployment.name,
  };
}

const MAX_NAME = 63;
const ID_PART = 8;

interface NewVolume {
  readonly mount: string;
  readonly size: string;
  /** Its id, if other deployments mount it as well. */
  readonly sharedId: string | undefined;
}

/**
 * A new volume, named `<deployment>-<mount>`. The name ends with a part of the id if it is
 * otherwise too long or already used.
 */
async function newVolume(
  { reader, draft, pending }: VolumeContext,
  { mount, size, sharedId }: NewVolume,
): Promise<MountedVolume> {
  const id = sharedId ?? uuidv7();
  const plain = `${draft.name}-${mount}`;
  const isUsed =
    hasPendingVolume(pending, plain) || (await reader.volume.findUnique({ where: { name: plain } })) !== null;
  const isFree = plain.length <= MAX_NAME && !isUsed;
  const name = isFree ? plain : `${plain.slice(0, MAX_NAME - ID_PART - 1)}-${id.slice(-ID_PART)}`;
  const rest = {
    access_mode: sharedId === undefined ? ('ReadWriteOnce' as const) : ('ReadWriteMany' as const),
    storage_class: null,
    isAttached: false,
    boundTo: undefined,
    attachedTo: undefined,
  };
  return { mount, id, name, labels: draft.labels, size, ...rest, isNew: true };
}

/**
 * Refuses volumes that a draft adds on a target that it keeps. Placement checks the volumes only
 * when it chooses a target, not for a stopped deployment or one that keeps its allocation.
 */
export const refusalsOfAddedVolumes = (mounted: readonly MountedVolume[], target: Target | null): Refusal[] =>
  mounted
    .filter(({ isAttached }) => !isAttached)
    .flatMap(({ mount, name, access_mode, attachedTo, boundTo }) => {
      if (attachedTo !== undefined && access_mode === 'ReadWriteOnce') {
        const message = `names the volume ${name}, which is ReadWriteOnce and attached to deployment ${attachedTo}`;
        return [refusal(mount, message)];
      }
      const isElsewhere = boundTo && target && (boundTo.kind !== target.kind || boundTo.id !== target.id);
      return isElsewhere ? [refusal(mount, `names the volume ${name}, which is bound to another ${boundTo.kind}`)] : [];
    });

type Replicated = Pick<Draft, 'id' | 'replicas' | 'desiredState' | 'workload'>;

/**
 * Refuses more than one replica with a ReadWriteOnce volume, because all replicas would write to
 * the same files. A deployment of an earlier version that has such replicas can be stopped, and
 * scaled to fewer replicas.
 */
export async function refusalsOfReplicas(
  reader: Pick<Prisma.TransactionClient, 'deployment'>,
  { id, replicas, desiredState, workload }: Replicated,
  mounted: readonly MountedVolume[],
): Promise<Refusal[]> {
  const exclusive = mounted.filter(({ access_mode }) => access_mode === 'ReadWriteOnce');
  if (replicas <= 1 || exclusive.length === 0) return [];
  const before = await reader.deployment.findUnique({ where: { id } });
  const isSameRevision = before?.workload_id === workload.workloadId && before.revision === workload.revision;
  const isStop = desiredState === 'stopped' && before?.replicas === replicas;
  if (before && isSameRevision && (isStop || replicas < before.replicas)) return [];
  const mounts = exclusive.map(({ mount }) => mount).join(', ');
  const message = `must be 1, because only one replica can write to the ReadWriteOnce volumes of the deployment (${mounts}); create several deployments, or use an existing ReadWriteMany volume if the application supports shared files`;
  return [{ code: 'deployment_refused', path: 'replicas', message }];
}

const code = 'unknown_volume';

const refusal = (mount: string, message: string): Refusal => ({ code, path: `volumes.${mount}`, message });

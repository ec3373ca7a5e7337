import { DEFAULT_VOLUME_SIZE, type Target } from '@svc/contract/fleet';
import { v7 as uuidv7 } from 'uuid';
import type { Prisma } from '../generated/prisma/client.ts';
import type { BoundVolume } from '../render/rendering.ts';
import { isUuid } from '../resources/kind.ts';
import { targetOf } from '../resources/targets.ts';
import type { Draft, VolumeWish } from './draft.ts';
import type { Refusal } from './refusals.ts';

/** A volume that a mount gets; `isNew`: its row is still to be made. */
export interface Mounted extends BoundVolume {
  readonly isNew: boolean;
  readonly boundTo: Target | undefined;
  /** Another deployment that has it. */
  readonly attachedTo: string | undefined;
}

type Reader = Pick<Prisma.TransactionClient, 'volume' | 'attachment'>;

/** The volumes of a deployment, mount by mount: what it has stays, what is named must be there, the rest is new. */
export async function mountVolumes(reader: Reader, draft: Draft): Promise<{ mounted: Mounted[]; refusals: Refusal[] }> {
  const mounts = [...new Set(draft.runs.spec.volume_mounts.map(({ name }) => name))];
  const attached = await reader.attachment.findMany({ where: { deployment_id: draft.id } });
  const refusals: Refusal[] = Object.keys(draft.volumes)
    .filter((name) => !mounts.includes(name))
    .map((name) => refusal(name, `is no volume mount of this workload, which has ${mounts.join(', ') || 'none'}`));
  const mounted: Mounted[] = [];
  for (const mount of mounts) {
    const present = attached.find((each) => each.mount === mount)?.volume_id;
    const found = await mountOne(reader, draft, { mount, present, wish: draft.volumes[mount] ?? {} });
    if ('code' in found) refusals.push(found);
    else mounted.push(found);
  }
  return { mounted, refusals };
}

interface Mount {
  readonly mount: string;
  /** The volume that it has already. */
  readonly present: string | undefined;
  readonly wish: VolumeWish;
}

async function mountOne(reader: Reader, draft: Draft, { mount, present, wish }: Mount): Promise<Mounted | Refusal> {
  if (present !== undefined && wish.storage_id !== undefined && wish.storage_id !== present) {
    return refusal(mount, `has the volume ${present}, and keeps it`);
  }
  const id = present ?? wish.storage_id;
  if (id === undefined) return newVolume(reader, draft, { mount, size: wish.size ?? DEFAULT_VOLUME_SIZE });
  const volume = isUuid(id)
    ? await reader.volume.findUnique({
        where: { id },
        include: { attachments: { where: { deployment_id: { not: draft.id } }, include: { deployment: true } } },
      })
    : null;
  if (!volume) return refusal(mount, `names the volume ${id}, which is not there`);
  const { name, size, access_mode, storage_class, host_id, cluster_id, attachments } = volume;
  const boundTo = targetOf({ host_id, cluster_id }) ?? undefined;
  const attachedTo = attachments[0]?.deployment.name;
  // What is to run is held against each place, with its volumes; what is stopped is placed nowhere.
  if (present === undefined && draft.desired === 'stopped') {
    if (attachedTo !== undefined && access_mode === 'ReadWriteOnce') {
      return refusal(
        mount,
        `names the volume ${name}, which is ReadWriteOnce and attached to deployment ${attachedTo}`,
      );
    }
    if (boundTo && draft.target && boundTo.id !== draft.target.id) {
      return refusal(mount, `names the volume ${name}, which lives on another ${boundTo.kind}`);
    }
  }
  return { mount, id, name, size, access_mode, storage_class, isNew: false, boundTo, attachedTo };
}

const MAX_NAME = 63;
const ID_PART = 8;

/** A volume of this deployment's own; its name tells whose, with a part of its id where that is too long, or taken. */
async function newVolume(
  reader: Reader,
  draft: Draft,
  { mount, size }: { readonly mount: string; readonly size: string },
): Promise<Mounted> {
  const id = uuidv7();
  const plain = `${draft.name}-${mount}`;
  const isFree = plain.length <= MAX_NAME && !(await reader.volume.findUnique({ where: { name: plain } }));
  const name = isFree ? plain : `${plain.slice(0, MAX_NAME - ID_PART - 1)}-${id.slice(-ID_PART)}`;
  const rest = {
    access_mode: 'ReadWriteOnce' as const,
    storage_class: null,
    boundTo: undefined,
    attachedTo: undefined,
  };
  return { mount, id, name, size, ...rest, isNew: true };
}

const refusal = (mount: string, message: string): Refusal => ({
  code: 'unknown_volume',
  path: `volumes.${mount}`,
  message,
});

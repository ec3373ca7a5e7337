import { fleetEndpoints } from '@svc/contract/fleet';
import { etagOfVersion, invalid, Problem, pickDefined, withEtag } from '@svc/http';
import { v7 as uuidv7 } from 'uuid';
import type { Prisma } from '../generated/prisma/client.ts';
import { authorOf } from '../identity/actor.ts';
import { bytes } from '../placement/quantities.ts';
import { storageClasses } from '../resources/clusters.ts';
import { refuseInUse } from '../resources/field-errors.ts';
import { lockRow, nextVersion, readRow, refuseRename } from '../resources/kind.ts';
import { volumeList } from '../resources/list-rules.ts';
import { acquirePlacementLock } from '../resources/placement-lock.ts';
import { presentVolume, type VolumeRow, volumes } from '../resources/storage.ts';
import { columnsOfTarget, refuseUnknownTarget, targetOf } from '../resources/targets.ts';
import { changeRoute } from './request/change.ts';
import { route } from './request/context.ts';
import { replyWithResources } from './request/pages.ts';

export const listStorage = route(fleetEndpoints.listStorage, (context, { query }) =>
  replyWithResources(
    context,
    {
      kind: volumes,
      rules: volumeList,
      present: presentVolume,
      element: fleetEndpoints.listStorage.reply.shape.storage.element,
      compose: (items, pagination) => ({ storage: items, pagination }),
    },
    query,
  ),
);

export const getStorage = route(fleetEndpoints.getStorage, async ({ database }, { params }) => {
  const storage = presentVolume(await readRow(database.client, volumes, params.id));
  return withEtag({ storage }, etagOfVersion(storage.version, storage));
});

export const createStorage = changeRoute(fleetEndpoints.createStorage, async (context, { body }) => {
  const { transaction, principal } = context;
  const { name, labels, size, access_mode, storage_class, reclaim, target } = body;
  await refuseUnknownTarget(transaction, target);
  const id = uuidv7();
  const data = { id, name, labels, size, access_mode, storage_class, reclaim, created_by: authorOf(principal) };
  await transaction.volume.create({ data: { ...data, ...columnsOfTarget(target) } });
  return { storage: presentVolume(await readRow(transaction, volumes, id)) };
});

export const updateStorage = changeRoute(fleetEndpoints.updateStorage, async (context, { params, body }) => {
  const { transaction, ifMatch } = context;
  const before = await lockRow(transaction, volumes, { id: params.id, ifMatch });
  refuseRename(body, before);
  await refuseSize(transaction, before, body.size);
  const data = { ...pickDefined(body, ['labels', 'size', 'reclaim']), ...nextVersion() };
  await transaction.volume.update({ where: { id: before.id }, data });
  return { storage: presentVolume(await readRow(transaction, volumes, before.id)) };
});

/**
 * A size that a storage class without expansion has refused can be lowered again, because the
 * cluster did not apply it.
 * @throws 400 for a smaller size, 422 for a larger one if the storage class does not allow it
 */
async function refuseSize(
  transaction: Prisma.TransactionClient,
  before: VolumeRow,
  size: string | undefined,
): Promise<void> {
  if (size === undefined || bytes(size) === bytes(before.size)) return;
  const fixed = before.sent_to_engine ? await readFixedClass(transaction, before) : undefined;
  if (fixed === undefined && bytes(size) < bytes(before.size)) {
    throw invalid([{ path: 'size', message: `must not be less than the current size, ${before.size}` }]);
  }
  if (fixed === undefined || bytes(size) < bytes(before.size)) return;
  const message = `must be ${before.size}, because the storage class ${fixed} does not allow larger volumes (allowVolumeExpansion)`;
  throw new Problem('unsupported_value', `The size of the volume ${before.name} ${message}.`, {
    errors: [{ path: 'size', message }],
  });
}

/** The storage class of a volume in a cluster, if its volumes cannot be expanded. */
async function readFixedClass(
  transaction: Prisma.TransactionClient,
  { cluster_id, storage_class }: VolumeRow,
): Promise<string | undefined> {
  if (cluster_id === null) return undefined;
  const cluster = await transaction.cluster.findUniqueOrThrow({ where: { id: cluster_id } });
  const found = storageClasses
    .parse(cluster.storage_classes)
    .find(({ name, is_default }) => (storage_class === null ? is_default : name === storage_class));
  return found?.allows_expansion === false ? found.name : undefined;
}

/**
 * Deletes at once a volume that no engine can have created. Any other volume is deleted after its
 * engine has removed it.
 */
export const deleteStorage = changeRoute(
  fleetEndpoints.deleteStorage,
  async ({ transaction, ifMatch, recording }, { params }) => {
    await acquirePlacementLock(transaction);
    const row = await lockRow(transaction, volumes, { id: params.id, ifMatch });
    const { id, name, attached_to, sent_to_engine, ...target } = row;
    recording.objectName = name;
    refuseInUse(attached_to.map((deployment) => ({ kind: 'deployment', name: deployment.name })));
    if (!sent_to_engine || targetOf(target) === null) await transaction.volume.delete({ where: { id } });
    else await transaction.volume.update({ where: { id }, data: { phase: 'deleting', ...nextVersion() } });
    return undefined;
  },
);

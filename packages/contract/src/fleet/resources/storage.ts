import { z } from 'zod';
import { endpoint } from '../../shared/endpoint.ts';
import { anyId, anyValue, whether } from '../../shared/list-query.ts';
import { id, ignored, pagination } from '../../shared/wire.ts';
import { quantity } from '../../template/fields.ts';
import { plausibleBytes } from '../../template/new-values.ts';
import { byId, changedMembers, newMembers, resourceMembers, resourceQuery, storageClass } from './resource.ts';
import { target, targetReply } from './target.ts';

/** The size of a volume: a quantity greater than zero. */
export const volumeSize = plausibleBytes(
  quantity.regex(/^[^eE]*[1-9]/, 'must be greater than zero, such as 10Gi'),
).meta({
  description: 'A Kubernetes quantity. Docker and Podman do not enforce the size of a volume.',
  examples: ['10Gi'],
});

export const DEFAULT_VOLUME_SIZE = '10Gi';

const accessModes = ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany'] as const;
const reclaim = z
  .enum(['retain', 'delete'])
  .meta({ description: 'Whether the volume is retained or deleted with the deployment for which it was created' });

export const volume = z
  .object({
    ...resourceMembers,
    size: z.string(),
    access_mode: z.enum(accessModes),
    storage_class: z.string().nullable(),
    reclaim,
    target: targetReply.nullable().meta({ description: 'null until a deployment that uses the volume is placed' }),
    deployment_id: id.nullable().meta({ description: 'The deployment for which the volume was created' }),
    phase: z.enum(['pending', 'bound', 'lost', 'deleting']),
    attached_to: z.array(z.object({ deployment_id: id, name: z.string() })),
  })
  .meta({ id: 'Volume' });

const observed = ignored('deployment_id', 'phase', 'attached_to');

/** Volumes. */
export const fleetStorageEndpoints = {
  listStorage: endpoint({
    operationId: 'listStorage',
    method: 'get',
    path: '/api/v1/storage',
    access: 'resources-read',
    tag: 'storage',
    summary: 'List the volumes',
    query: resourceQuery({
      phase: anyValue('phase', volume.shape.phase),
      access_mode: anyValue('access_mode', volume.shape.access_mode),
      reclaim: anyValue('reclaim', reclaim),
      host_id: anyId('The host of the volume'),
      cluster_id: anyId('The cluster of the volume'),
      deployment_id: anyId('The deployment for which the volume was created'),
      attached: whether('Whether a deployment uses the volume'),
    }),
    reply: z.object({ storage: z.array(volume), pagination }),
  }),
  createStorage: endpoint({
    operationId: 'createStorage',
    method: 'post',
    path: '/api/v1/storage',
    access: 'resources-write',
    tag: 'storage',
    summary: 'Create a volume; the engine creates it with the first deployment that uses it',
    body: z.strictObject({
      ...newMembers,
      size: volumeSize.default(DEFAULT_VOLUME_SIZE),
      access_mode: z.enum(accessModes).default('ReadWriteOnce'),
      storage_class: storageClass.default(null),
      reclaim: reclaim.default('retain'),
      target: target.nullable().default(null),
      ...observed,
    }),
    status: 201,
    reply: z.object({ storage: volume }),
    problems: ['name_taken', 'unknown_target'],
  }),
  getStorage: endpoint({
    operationId: 'getStorage',
    method: 'get',
    path: '/api/v1/storage/:id',
    access: 'resources-read',
    tag: 'storage',
    summary: 'Get a volume',
    params: byId,
    reply: z.object({ storage: volume }),
    problems: ['not_found'],
  }),
  updateStorage: endpoint({
    operationId: 'updateStorage',
    method: 'put',
    path: '/api/v1/storage/:id',
    access: 'resources-write',
    tag: 'storage',
    summary:
      'Change the labels or the reclaim policy of a volume, or increase its size, if its storage class permits that',
    params: byId,
    headers: ['If-Match'],
    body: z.strictObject({
      ...changedMembers,
      size: volumeSize.optional(),
      reclaim: reclaim.optional(),
      ...ignored('access_mode', 'storage_class', 'target'),
      ...observed,
    }),
    reply: z.object({ storage: volume }),
    problems: ['not_found', 'version_conflict', 'unsupported_value'],
  }),
  deleteStorage: endpoint({
    operationId: 'deleteStorage',
    method: 'delete',
    path: '/api/v1/storage/:id',
    access: 'resources-write',
    tag: 'storage',
    summary: 'Delete an unused volume with its data',
    params: byId,
    headers: ['If-Match'],
    status: 204,
    reply: z.void(),
    problems: ['not_found', 'in_use', 'version_conflict'],
  }),
};

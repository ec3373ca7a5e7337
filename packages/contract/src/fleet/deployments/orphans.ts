import { z } from 'zod';
import { endpoint } from '../../shared/endpoint.ts';
import { timestamp } from '../../shared/timestamp.ts';
import { id, pagination, paging } from '../../shared/wire.ts';
import { byId } from '../resources/resource.ts';
import { volume } from '../resources/storage.ts';
import { deployment, newDeployment, refusals } from './deployment.ts';
import { generatedValues } from './env.ts';

const orphan = z
  .object({
    id: id.meta({ description: 'Id of the deployment or volume, as the labels of the objects state it' }),
    kind: z.enum(['deployment', 'volume']),
    name: z.string().meta({ description: 'Name of the deployment or volume' }),
    generation: z.int().meta({ description: 'Latest generation of the objects; 0 for a volume' }),
    workload_id: id.nullable().meta({ description: 'null: the objects do not state it' }),
    revision: z.int().nullable().meta({ description: 'Revision of the workload' }),
    variables: z.array(z.string()).meta({ description: 'Names of the variables that the deployment set itself' }),
    replicas: z.int(),
    objects: z.array(z.string()).meta({ description: 'At most 20 names of objects' }),
    object_count: z.int(),
    ports: z
      .array(z.object({ ordinal: z.int(), protocol: z.string(), container_port: z.int(), host_port: z.int() }))
      .meta({ description: 'Published ports of a host, which the fleet does not allocate to other deployments' }),
    found_at: timestamp.meta({ description: 'When a check found the objects first' }),
    removing: z.boolean().meta({ description: 'true: a caller requested the removal, and checks remove the objects' }),
  })
  .meta({
    id: 'Orphan',
    description:
      'Objects on an engine with the labels of a fleet, whose deployment or volume is not in the database of this fleet',
  });

const orphanById = z.strictObject({ id, orphan_id: id });

const list = {
  method: 'get',
  access: 'resources-read',
  params: byId,
  query: z.strictObject(paging),
  reply: z.object({ orphans: z.array(orphan), pagination }),
} as const;

const remove = {
  method: 'post',
  access: 'resources-write',
  params: orphanById,
  reply: z.object({ orphan }),
} as const;

const adopt = {
  method: 'post',
  access: 'resources-write',
  params: orphanById,
  body: z.strictObject({
    env: newDeployment.shape.env.meta({ description: 'Values of `variables`, which the fleet does not read back' }),
    volumes: newDeployment.shape.volumes.meta({ description: 'For a deployment: the volume of each volume mount' }),
  }),
  bodyLimit: 1024 * 1024,
  status: 201,
  secret: true,
  reply: z
    .object({ deployment: deployment.nullable(), storage: volume.nullable(), generated: generatedValues })
    .meta({ description: 'The resource that was created; the other one is null' }),
} as const;

const adoptProblems = ['not_found', 'not_adoptable', 'name_taken', 'unsupported_value', ...refusals] as const;

/**
 * What runs on an engine without being in the database, for example after a backup was restored.
 */
export const fleetOrphanEndpoints = {
  listHostOrphans: endpoint({
    ...list,
    operationId: 'listHostOrphans',
    path: '/api/v1/hosts/:id/orphans',
    tag: 'hosts',
    summary: 'List the orphans of a host, as of its last check',
    problems: ['not_found', 'read_only'],
  }),
  removeHostOrphan: endpoint({
    ...remove,
    operationId: 'removeHostOrphan',
    path: '/api/v1/hosts/:id/orphans/:orphan_id/remove',
    tag: 'hosts',
    summary: 'Remove the objects of an orphan from a host; a volume is removed with its data',
    problems: ['not_found', 'read_only'],
  }),
  adoptHostOrphan: endpoint({
    ...adopt,
    operationId: 'adoptHostOrphan',
    path: '/api/v1/hosts/:id/orphans/:orphan_id/adopt',
    tag: 'hosts',
    summary: 'Create the deployment or volume of an orphan again, with the same id',
    problems: [...adoptProblems, 'read_only'],
  }),
  listClusterOrphans: endpoint({
    ...list,
    operationId: 'listClusterOrphans',
    path: '/api/v1/clusters/:id/orphans',
    tag: 'clusters',
    summary: 'List the orphans of a cluster, as of its last check',
    problems: ['not_found'],
  }),
  removeClusterOrphan: endpoint({
    ...remove,
    operationId: 'removeClusterOrphan',
    path: '/api/v1/clusters/:id/orphans/:orphan_id/remove',
    tag: 'clusters',
    summary: 'Remove the objects of an orphan from a cluster; a volume is removed with its data',
    problems: ['not_found'],
  }),
  adoptClusterOrphan: endpoint({
    ...adopt,
    operationId: 'adoptClusterOrphan',
    path: '/api/v1/clusters/:id/orphans/:orphan_id/adopt',
    tag: 'clusters',
    summary: 'Create the deployment or volume of an orphan again, with the same id',
    problems: [...adoptProblems],
  }),
};

import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import {
  byId,
  capacity,
  changedMembers,
  newMembers,
  reachability,
  resourceMembers,
  resourceQuery,
  targetEnd,
} from './fleet-resource.ts';
import { labelKey, labelValue, list, quantity, word } from './template-fields.ts';
import { timestamp } from './timestamp.ts';
import { ignored, line, pagination, text } from './wire.ts';

const ENDPOINT = /^(?:unix:\/\/\/[^\s?#]+|tcp:\/\/(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):[1-9]\d{0,4})$/;

const address = line(1000)
  .regex(ENDPOINT, 'must be unix:///path/of/a.sock or tcp://host:port')
  .refine(
    (value) => !value.startsWith('tcp:') || URL.canParse(value.replace('tcp:', 'http:')),
    'has a port out of range',
  )
  .meta({ description: 'Where its engine listens; another one needs its credentials with it' });

const taint = z
  .strictObject({
    key: labelKey,
    value: labelValue.default(''),
    effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']),
  })
  .meta({ id: 'Taint', description: 'What only tolerates it runs there, as in Kubernetes' });

const gpu = z
  .strictObject({
    id: z
      .string()
      .regex(
        /^(?:[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}|[a-z0-9][a-z0-9.-]{0,62}\/[a-z0-9][a-z0-9_-]{0,30}=[A-Za-z0-9][A-Za-z0-9_.:-]{0,62})$/,
        'must be an index, a UUID, or a CDI device such as nvidia.com/gpu=0',
      )
      .meta({ description: 'As the engine names it' }),
    model: line(200).default(''),
    vram: quantity.default(''),
  })
  .meta({ id: 'Gpu' });

const gpus = z
  .array(gpu)
  .max(256, 'must have at most 256 entries')
  .refine((given) => new Set(given.map(({ id }) => id)).size === given.length, 'must name each GPU once');

/** PEM texts for TLS with the engine. */
const credentials = z
  .strictObject({
    ca_certificate: text(100_000).min(1),
    certificate: text(100_000).min(1),
    key: text(100_000).min(1),
  })
  .meta({ id: 'HostCredentials', description: 'PEM: whom to trust, and who we are. Never shown.' });

const fields = {
  engine: z.enum(['docker', 'podman']),
  endpoint: address,
  credentials: credentials.nullable(),
  network_types: list(word),
  taints: list(taint),
  schedulable: z.boolean().meta({ description: 'false: nothing new is placed there' }),
  gpus,
};

const host = z
  .object({
    ...resourceMembers,
    engine: z
      .enum(['docker', 'podman', 'kubernetes'])
      .meta({ description: '`kubernetes`: a node of a cluster, as its last check found it; read-only' }),
    cluster_id: z.string().nullable().meta({ description: 'Of a node: its cluster' }),
    endpoint: z.string().nullable().meta({ description: 'null: a node' }),
    has_credentials: z.boolean(),
    network_types: z.array(z.string()),
    taints: z.array(taint),
    schedulable: z.boolean(),
    gpus: z.array(gpu).meta({ description: 'Declared: engines do not tell' }),
    reachability,
    message: z.string().meta({ description: 'Why it is unreachable' }),
    last_seen_at: timestamp.nullable(),
    engine_version: z.string().nullable(),
    arch: z.string().nullable(),
    capacity: capacity.nullable().meta({ description: 'null: not known yet' }),
    allocated: capacity.nullable().meta({
      description: 'What deployments of this fleet have been given; null for a node, which its cluster fills',
    }),
  })
  .meta({ id: 'Host' });

const observed = ignored(
  'cluster_id',
  'has_credentials',
  'reachability',
  'message',
  'last_seen_at',
  'engine_version',
  'arch',
  'capacity',
  'allocated',
);

/** Machines with a Docker or Podman engine. */
export const fleetHostEndpoints = {
  listHosts: endpoint({
    operationId: 'listHosts',
    method: 'get',
    path: '/api/v1/hosts',
    access: 'resources-read',
    tag: 'hosts',
    summary: 'List the hosts, and the nodes of clusters',
    query: resourceQuery,
    reply: z.object({ hosts: z.array(host), pagination }),
  }),
  createHost: endpoint({
    operationId: 'createHost',
    method: 'post',
    path: '/api/v1/hosts',
    access: 'resources-write',
    tag: 'hosts',
    summary: 'Register a host; one at a local socket or a loopback address: by an admin only',
    body: z.strictObject({
      ...newMembers,
      ...fields,
      credentials: fields.credentials.default(null),
      network_types: fields.network_types.default([]),
      taints: fields.taints.default([]),
      schedulable: fields.schedulable.default(true),
      gpus: fields.gpus.default([]),
      ...observed,
    }),
    bodyLimit: 512 * 1024,
    status: 201,
    reply: z.object({ host }),
    problems: ['name_taken'],
  }),
  getHost: endpoint({
    operationId: 'getHost',
    method: 'get',
    path: '/api/v1/hosts/:id',
    access: 'resources-read',
    tag: 'hosts',
    summary: 'Get a host',
    params: byId,
    reply: z.object({ host }),
    problems: ['not_found'],
  }),
  updateHost: endpoint({
    operationId: 'updateHost',
    method: 'put',
    path: '/api/v1/hosts/:id',
    access: 'resources-write',
    tag: 'hosts',
    summary: 'Change the members of a host that the body names',
    params: byId,
    headers: ['If-Match'],
    body: z.strictObject({
      ...changedMembers,
      engine: fields.engine.optional(),
      endpoint: fields.endpoint.optional(),
      credentials: fields.credentials.optional(),
      network_types: fields.network_types.optional(),
      taints: fields.taints.optional(),
      schedulable: fields.schedulable.optional(),
      gpus: fields.gpus.optional(),
      ...observed,
    }),
    bodyLimit: 512 * 1024,
    reply: z.object({ host }),
    problems: ['not_found', 'read_only', 'in_use', 'version_conflict'],
  }),
  checkHost: endpoint({
    operationId: 'checkHost',
    method: 'post',
    path: '/api/v1/hosts/:id/check',
    access: 'resources-write',
    tag: 'hosts',
    summary: 'Ask a host now whether it is there, and what it has',
    params: byId,
    reply: z.object({ host }),
    problems: ['not_found', 'read_only'],
  }),
  deleteHost: endpoint({
    operationId: 'deleteHost',
    method: 'delete',
    path: '/api/v1/hosts/:id',
    access: 'resources-write',
    tag: 'hosts',
    summary: 'Forget a host that nothing is deployed on',
    params: byId,
    query: targetEnd,
    headers: ['If-Match'],
    status: 204,
    reply: z.void(),
    problems: ['not_found', 'read_only', 'in_use', 'version_conflict'],
  }),
};

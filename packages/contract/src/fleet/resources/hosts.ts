import { BlockList, isIP } from 'node:net';
import { z } from 'zod';
import { endpoint } from '../../shared/endpoint.ts';
import { anyId, anyName, anyValue, whether } from '../../shared/list-query.ts';
import { timestamp } from '../../shared/timestamp.ts';
import { id, ignored, line, pagination, record, text, visible } from '../../shared/wire.ts';
import { labelKey, labelValue, list, quantity, word } from '../../template/fields.ts';
import { openPorts } from './host-ports.ts';
import {
  acceptEngine,
  byId,
  capacity,
  changedMembers,
  condition,
  identity,
  newMembers,
  reachability,
  resourceMembers,
  resourceQuery,
  targetDeletion,
} from './resource.ts';

/** The maximum number of addresses that a check proposes. */
export const MAX_PROPOSED_ADDRESSES = 16;

const ENDPOINT = /^(?:unix:\/\/\/[^\s?#]+|tcp:\/\/(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):[1-9]\d{0,4})$/;

/** Whether a path with encoded characters (RFC 3986) is UTF-8 without NUL. */
function isPath(encoded: string): boolean {
  try {
    return !decodeURIComponent(encoded).includes('\0');
  } catch {
    return false;
  }
}

const address = line(1000)
  .regex(ENDPOINT, 'must be unix:///path/to/engine.sock or tcp://host:port')
  .refine(
    (value) => !value.startsWith('tcp:') || URL.canParse(value.replace('tcp:', 'http:')),
    'must have a port from 1 to 65535',
  )
  .refine(
    (value) => !value.startsWith('unix:') || isPath(value),
    'must have a path in which each % begins an encoded character, such as %20 for a space or %25 for %',
  )
  .meta({ description: 'Address of the engine. A change also requires `credentials`' });

const taint = z
  .strictObject({
    key: labelKey,
    value: labelValue.default(''),
    effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']),
  })
  .meta({ id: 'Taint', description: 'As in Kubernetes: only workloads that tolerate the taint run on the host' });

const gpu = z
  .strictObject({
    id: z
      .string()
      .regex(
        /^(?:[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}|[a-z0-9][a-z0-9.-]{0,62}\/[a-z0-9][a-z0-9_-]{0,30}=[A-Za-z0-9][A-Za-z0-9_.:-]{0,62})$/,
        'must be an index, a UUID, or a CDI device such as nvidia.com/gpu=0',
      )
      .meta({ description: 'The id that the engine uses' }),
    model: line(200).default(''),
    vram: quantity.default(''),
  })
  .meta({ id: 'Gpu' });

/** A GPU that is declared now. */
const newGpu = gpu.extend({ model: visible(line(200)).default('') }).meta({ id: 'NewGpu' });

const gpus = z
  .array(newGpu)
  .max(256, 'must have at most 256 entries')
  .refine((given) => new Set(given.map(({ id }) => id)).size === given.length, 'must not contain an id twice')
  .meta({ description: 'Each GPU has a different id' });

/**
 * A taint that can be written. Hosts from before this rule keep the effect `NoExecute`, which stops
 * nothing that runs: it counts as `NoSchedule`.
 */
const writtenTaint = taint.extend({
  effect: z.enum(
    ['NoSchedule', 'PreferNoSchedule'],
    'must be NoSchedule or PreferNoSchedule; the fleet does not stop what runs on a host because of a taint',
  ),
});

/** The client credentials for TLS with the engine. */
const credentials = z
  .strictObject({
    ca_certificate: text(100_000).min(1),
    certificate: text(100_000).min(1),
    key: text(100_000).min(1),
  })
  .meta({
    id: 'HostCredentials',
    description:
      'PEM: the certificate authority of the engine, and the client certificate. Responses never contain them.',
  });

function subnets(family: 'ipv4' | 'ipv6', ...ranges: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of ranges) list.addSubnet(network, prefix, family);
  return list;
}

/**
 * Addresses that do not identify one interface of a host: unspecified, link-local, multicast and
 * IPv4-mapped ones.
 */
const notBindable = {
  ipv4: subnets('ipv4', ['0.0.0.0', 8], ['169.254.0.0', 16], ['224.0.0.0', 3]),
  ipv6: subnets('ipv6', ['::', 128], ['::ffff:0:0', 96], ['fe80::', 10], ['ff00::', 8]),
};

function isBindable(address: string): boolean {
  const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
  return isIP(address) === 0 || !notBindable[family].check(address, family);
}

const bindable = line(45)
  .regex(/^[0-9A-Fa-f.:]*$/, { error: 'must be an IPv4 or IPv6 address, such as 10.1.2.3', abort: true })
  .refine((value) => isIP(value) > 0, 'must be an IPv4 or IPv6 address, such as 10.1.2.3')
  .refine(
    isBindable,
    'must be an address of one interface of the host, not an unspecified, link-local, multicast or IPv4-mapped address',
  );

/** Whether ports of a host can bind to an address. */
export const isBindAddress = (address: string): boolean => bindable.safeParse(address).success;

const addresses = record(word, bindable, 32).meta({
  description:
    'An address of the host for each of its network types, to which containers bind their ports. Without one, they bind to 127.0.0.1',
  examples: [{ mesh: '10.1.2.3' }],
});

const fields = {
  engine: z.enum(['docker', 'podman']),
  endpoint: address,
  credentials: credentials.nullable(),
  network_types: list(word),
  addresses,
  taints: list(writtenTaint),
  schedulable: z.boolean().meta({ description: 'false: no new deployment is placed on the host' }),
  gpus,
  open_ports: openPorts,
};

export const host = z
  .object({
    ...resourceMembers,
    engine: z
      .enum(['docker', 'podman', 'kubernetes'])
      .meta({ description: '`kubernetes`: a node of a cluster, as of its last check; read-only' }),
    cluster_id: id.nullable().meta({ description: 'The cluster of a node' }),
    endpoint: z.string().nullable().meta({ description: 'null for a node' }),
    has_credentials: z.boolean(),
    network_types: z.array(z.string()),
    addresses: z.record(z.string(), z.string()).meta({ description: 'By network type, as declared by users' }),
    unverified_addresses: z.array(z.string()).meta({
      description:
        'The network types whose address no running container has used yet, so that it is not known whether the host has it',
    }),
    taints: z.array(taint),
    schedulable: z.boolean(),
    gpus: z.array(gpu).meta({ description: 'As declared by users: engines do not report GPUs' }),
    open_ports: z.array(z.string()).meta({
      description: 'The ports that deployments can request, as an admin has opened them; empty for a node',
    }),
    reachability,
    message: z.string().meta({ description: 'Why the last check failed' }),
    last_seen_at: timestamp.nullable(),
    engine_version: z.string().nullable(),
    arch: z.string().nullable(),
    identity,
    conditions: z.array(condition).meta({
      description: '`IdentityKnown` and `Unique`: whether the engine is registered only once; empty for a node',
    }),
    capacity: capacity.nullable().meta({ description: 'null: not known yet' }),
    allocated: capacity.nullable().meta({
      description:
        'Resources that are allocated to deployments of this fleet; null for a node, because its cluster schedules pods',
    }),
    gpu_allocations: z
      .array(
        z.object({
          gpu_id: z.string().meta({ description: 'The id that the engine uses' }),
          deployment_id: id,
          deployment_name: z.string(),
        }),
      )
      .meta({
        description: 'The GPUs that are allocated, and the deployment that holds each; empty for a node',
      }),
  })
  .meta({ id: 'Host' });

/** What the fleet found at an address before a host is registered there. */
const newHostCheck = z
  .object({
    reachability: reachability.exclude(['unknown']),
    message: z.string().meta({ description: 'Why the engine is unreachable' }),
    engine_version: z.string().nullable(),
    arch: z.string().nullable(),
    capacity: capacity.nullable(),
    registered_as: z
      .object({ id, name: z.string() })
      .nullable()
      .meta({ description: 'The host with the same engine; null: none, or not known' }),
    addresses: z.array(z.object({ address: z.string(), is_public: z.boolean() })).meta({
      description: `Addresses that the machine of the engine probably has: at most ${MAX_PROPOSED_ADDRESSES}`,
    }),
  })
  .meta({ id: 'NewHostCheck' });

const observed = ignored(
  'cluster_id',
  'unverified_addresses',
  'has_credentials',
  'reachability',
  'message',
  'last_seen_at',
  'engine_version',
  'arch',
  'identity',
  'conditions',
  'capacity',
  'allocated',
  'gpu_allocations',
);

/** Hosts: machines with a Docker or Podman engine. */
export const fleetHostEndpoints = {
  listHosts: endpoint({
    operationId: 'listHosts',
    method: 'get',
    path: '/api/v1/hosts',
    access: 'resources-read',
    tag: 'hosts',
    summary: 'List the hosts, and the nodes of clusters',
    query: resourceQuery(
      {
        engine: anyValue('engine', host.shape.engine),
        reachability: anyValue('reachability', reachability),
        schedulable: whether('Whether new deployments can be placed on the host'),
        cluster_id: anyId('The cluster of a node'),
        network_type: anyName('A network of the host'),
        arch: anyName('`arch`, such as amd64'),
      },
      'last_seen_at',
      'problem',
    ),
    reply: z.object({ hosts: z.array(host), pagination }),
  }),
  createHost: endpoint({
    operationId: 'createHost',
    method: 'post',
    path: '/api/v1/hosts',
    access: 'resources-write',
    tag: 'hosts',
    summary: 'Register a host; only an admin can register a local socket or an address of the machine of the fleet',
    body: z.strictObject({
      ...newMembers,
      ...fields,
      credentials: fields.credentials.default(null),
      network_types: fields.network_types.default([]),
      addresses: fields.addresses.default({}),
      taints: fields.taints.default([]),
      schedulable: fields.schedulable.default(true),
      gpus: fields.gpus.default([]),
      open_ports: fields.open_ports.default([]),
      ...observed,
    }),
    bodyLimit: 512 * 1024,
    status: 201,
    reply: z.object({ host }),
    problems: ['name_taken', 'already_registered'],
  }),
  checkNewHost: endpoint({
    operationId: 'checkNewHost',
    method: 'post',
    path: '/api/v1/hosts/check',
    access: 'resources-write',
    tag: 'hosts',
    summary: 'Check an engine before it is registered as a host; nothing is stored',
    body: z.strictObject({
      engine: fields.engine,
      endpoint: fields.endpoint,
      credentials: fields.credentials.default(null),
    }),
    bodyLimit: 512 * 1024,
    reply: z.object({ check: newHostCheck }),
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
    summary: 'Change a host; members that are left out do not change',
    params: byId,
    headers: ['If-Match'],
    body: z.strictObject({
      ...changedMembers,
      engine: fields.engine.optional(),
      endpoint: fields.endpoint.optional(),
      credentials: fields.credentials.optional(),
      network_types: fields.network_types.optional(),
      addresses: fields.addresses.optional(),
      taints: fields.taints.optional(),
      schedulable: fields.schedulable.optional(),
      gpus: fields.gpus.optional(),
      open_ports: fields.open_ports.optional(),
      accept_engine: acceptEngine,
      ...observed,
    }),
    bodyLimit: 512 * 1024,
    reply: z.object({ host }),
    problems: ['not_found', 'read_only', 'in_use', 'already_registered', 'version_conflict'],
  }),
  checkHost: endpoint({
    operationId: 'checkHost',
    method: 'post',
    path: '/api/v1/hosts/:id/check',
    access: 'resources-write',
    tag: 'hosts',
    summary: 'Check a host now: reachability, version and capacity',
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
    summary: 'Remove a host without deployments; the host itself does not change',
    params: byId,
    query: targetDeletion,
    headers: ['If-Match'],
    status: 204,
    reply: z.void(),
    problems: ['not_found', 'read_only', 'in_use', 'version_conflict'],
  }),
};

import { z } from 'zod';
import { Prisma } from '../generated/prisma/client.ts';
import { unverifiedTypes } from '../placement/addresses.ts';
import { formatAmount } from '../placement/quantities.ts';
import { identityColumns, identityRow, uniqueCondition } from './identity.ts';
import { type Kind, presentCommon, resourceRow } from './kind.ts';

/** The column and row for which the credentials of a host are sealed. */
export const hostCredentialsLocation = (row: string) => ({ table: 'hosts', column: 'sealed', row });

const taint = z.object({
  key: z.string(),
  value: z.string(),
  effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']),
});
const gpu = z.object({ id: z.string(), model: z.string(), vram: z.string() });
const gpuAllocation = z.object({ gpu_id: z.string(), deployment_id: z.string(), deployment_name: z.string() });

/** A host, or a node of a cluster. */
const hostOrNodeRow = resourceRow.extend({
  ...identityRow.shape,
  engine: z.enum(['docker', 'podman', 'kubernetes']),
  /** The cluster of a node; null for a host. */
  cluster_id: z.string().nullable(),
  /** Null for a node. */
  endpoint: z.string().nullable(),
  has_credentials: z.boolean(),
  network_types: z.array(z.string()),
  addresses: z.record(z.string(), z.string()),
  verified_addresses: z.array(z.string()),
  taints: z.array(taint),
  schedulable: z.boolean(),
  gpus: z.array(gpu),
  open_ports: z.array(z.string()),
  reachability: z.enum(['unknown', 'online', 'unreachable']),
  unreachable_reason: z.string(),
  last_seen_at: z.date().nullable(),
  engine_version: z.string().nullable(),
  arch: z.string().nullable(),
  cpu_millis: z.bigint().nullable(),
  memory_bytes: z.bigint().nullable(),
  gpu_count: z.int(),
  allocated_cpu: z.bigint(),
  allocated_memory: z.bigint(),
  gpu_allocations: z.array(gpuAllocation),
  /** The networks of a host, by what its engine states. */
  networks: z.object({ isolated: z.int(), open: z.int() }),
  /** The number of deployments with containers outside of them, and the names of some, as the last check listed them; null: not known. */
  outside: z.object({ count: z.int(), names: z.array(z.string()) }).nullable(),
});
export type HostOrNodeRow = z.output<typeof hostOrNodeRow>;

const hostRow = hostOrNodeRow.extend({ cluster_id: z.null(), endpoint: z.string() });
export type HostRow = z.output<typeof hostRow>;

/** The number of deployments that a condition names. */
const MAX_NAMED = 20;

const commonColumns = Prisma.sql`r.engine::text, r.endpoint, r.network_types,
    coalesce((SELECT h.addresses FROM hosts h WHERE h.id = r.id), '{}') AS addresses,
    ARRAY(SELECT unnest(h.verified_addresses) FROM hosts h WHERE h.id = r.id) AS verified_addresses,
    ARRAY(SELECT unnest(h.open_ports) FROM hosts h WHERE h.id = r.id) AS open_ports, r.taints, r.schedulable, r.gpus, r.reachability::text, r.unreachable_reason,
    r.last_seen_at, r.engine_version, r.arch, r.cpu_millis, r.memory_bytes,
    (SELECT coalesce(sum(d.cpu_millis), 0)::bigint FROM deployments d WHERE d.host_id = r.id) AS allocated_cpu,
    (SELECT coalesce(sum(d.memory_bytes), 0)::bigint FROM deployments d WHERE d.host_id = r.id) AS allocated_memory,
    (SELECT coalesce(jsonb_agg(jsonb_build_object('gpu_id', g.gpu_id, 'deployment_id', d.id, 'deployment_name', d.name) ORDER BY g.gpu_id), '[]')
     FROM allocated_gpus g JOIN deployments d ON d.id = g.deployment_id WHERE g.host_id = r.id) AS gpu_allocations,
    (SELECT jsonb_build_object('isolated', count(*) FILTER (WHERE n.isolation = 'isolated'), 'open', count(*) FILTER (WHERE n.isolation = 'open'))
     FROM networks n WHERE n.host_id = r.id) AS networks,
    (SELECT CASE WHEN h.default_network_ids IS NOT NULL THEN
       jsonb_build_object('count', cardinality(h.default_network_ids), 'names', ARRAY(
         SELECT coalesce(d.name, o.id::text) FROM unnest(h.default_network_ids[1:${MAX_NAMED}::int]) AS o (id)
         LEFT JOIN deployments d ON d.id = o.id ORDER BY 1)) END
     FROM hosts h WHERE h.id = r.id) AS outside,
    ${identityColumns(
      'hosts',
      Prisma.sql`coalesce((SELECT h.identity FROM hosts h WHERE h.id = r.id), (SELECT n.identity FROM nodes n WHERE n.id = r.id))`,
    )}`;

/** The registered hosts, which can be changed. */
export const hosts: Kind<HostRow> = {
  table: 'hosts',
  row: hostRow,
  columns: Prisma.sql`${commonColumns}, r.sealed IS NOT NULL AS has_credentials, NULL::uuid AS cluster_id, jsonb_array_length(r.gpus) AS gpu_count`,
};

/** Hosts and the nodes of clusters. */
export const hostsAndNodes: Kind<HostOrNodeRow> = {
  table: 'hosts_and_nodes',
  row: hostOrNodeRow,
  columns: Prisma.sql`${commonColumns}, r.has_credentials, r.cluster_id, r.gpu_count`,
};

/** The conditions of a host. The conditions of a node are those of its cluster. */
function conditionsOf(row: HostOrNodeRow) {
  if (row.cluster_id !== null) return [];
  const at = row.last_seen_at ?? row.created_at;
  const conditions = [
    identityCondition(row),
    uniqueCondition('host', row),
    isolatedCondition(row),
    ...sharesDefault(row),
  ];
  return conditions.map((condition) => ({ ...condition, at }));
}

function identityCondition({ identity, last_seen_at }: HostOrNodeRow) {
  const type = 'IdentityKnown';
  if (identity !== null) return { type, status: 'True', reason: 'Read', message: '' };
  if (last_seen_at === null) return { type, status: 'Unknown', reason: 'NotChecked', message: '' };
  const message =
    'The engine reports no identity, or does not permit the fleet to store one. The fleet cannot detect that it is registered twice.';
  return { type, status: 'False', reason: 'NotReported', message };
}

const ISOLATED = 'Isolated';

/** Whether all containers of the fleet are in networks that the engine isolates. */
function isolatedCondition({ networks, outside }: HostOrNodeRow) {
  const type = ISOLATED;
  if (outside === null) return { type, status: 'Unknown', reason: 'NotChecked', message: '' };
  if (networks.open > 0) {
    const message =
      'The engine does not isolate the networks that the fleet has created. Containers of different applications reach each other.';
    return { type, status: 'False', reason: 'NetworkNotIsolated', message };
  }
  if (outside.count > 0) {
    const message =
      'Containers of the fleet are on the default network of the engine. They reach each other, and on Podman also all ports of containers in isolated networks.';
    return { type, status: 'False', reason: SHARES_DEFAULT, message };
  }
  return { type, status: 'True', reason: ISOLATED, message: '' };
}

const SHARES_DEFAULT = 'SharesDefaultNetwork';

/** The condition that names the deployments with containers outside of the networks of the fleet; none if there are none. */
function sharesDefault({ outside }: HostOrNodeRow) {
  if (!outside || outside.count === 0) return [];
  const more = outside.count > outside.names.length ? [`and ${outside.count - outside.names.length} more`] : [];
  const message = `Restart these deployments to move them to isolated networks: ${[...outside.names, ...more].join(', ')}.`;
  return [{ type: SHARES_DEFAULT, status: 'True', reason: 'DefaultNetwork', message }];
}

/** The representation of a host or node in the API. */
export const presentHost = (row: HostOrNodeRow) => ({
  ...presentCommon(row),
  engine: row.engine,
  cluster_id: row.cluster_id,
  endpoint: row.endpoint,
  has_credentials: row.has_credentials,
  network_types: row.network_types,
  addresses: row.addresses,
  unverified_addresses: unverifiedTypes(row.addresses, row.verified_addresses),
  taints: row.taints,
  schedulable: row.schedulable,
  gpus: row.gpus,
  open_ports: row.open_ports,
  reachability: row.reachability,
  message: row.unreachable_reason,
  last_seen_at: row.last_seen_at,
  engine_version: row.engine_version,
  arch: row.arch,
  identity: row.identity,
  conditions: conditionsOf(row),
  capacity:
    row.cpu_millis === null || row.memory_bytes === null
      ? null
      : formatAmount({ cpu_millis: row.cpu_millis, memory_bytes: row.memory_bytes, gpu_count: row.gpu_count }),
  allocated:
    row.cluster_id === null
      ? formatAmount({
          cpu_millis: row.allocated_cpu,
          memory_bytes: row.allocated_memory,
          gpu_count: row.gpu_allocations.length,
        })
      : null,
  gpu_allocations: row.gpu_allocations,
});

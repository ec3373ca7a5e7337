import { Prisma } from '../generated/prisma/client.ts';
import { type Condition, presentConditions } from '../resources/conditions.ts';
import { showAmount } from '../resources/quantities.ts';
import { type Kind, presentCommon, type ResourceRow } from '../resources/rows.ts';

export interface ClusterRow extends ResourceRow {
  readonly server: string;
  readonly ca_certificate: string | null;
  readonly auth_kind: 'token' | 'client_certificate';
  readonly namespace: string;
  readonly network_types: string[];
  readonly default_storage_class: string | null;
  readonly gpu_resource_name: string;
  readonly reachability: 'unknown' | 'online' | 'unreachable';
  readonly message: string;
  readonly last_seen_at: Date | null;
  readonly kubernetes_version: string | null;
  readonly capacity: { readonly cpu: string; readonly memory: string; readonly gpu_count: number } | null;
  readonly cpu_millis: bigint | null;
  readonly memory_bytes: bigint | null;
  readonly gpu_count: number | null;
  readonly conditions: readonly Condition[];
  readonly storage_classes: readonly { readonly name: string; readonly is_default: boolean }[];
  readonly allocated_cpu: bigint;
  readonly allocated_memory: bigint;
  readonly allocated_gpus: number;
}

export const clusters: Kind = {
  table: 'clusters',
  columns: Prisma.sql`r.server, r.ca_certificate, r.auth_kind::text, r.namespace, r.network_types, r.default_storage_class,
    r.gpu_resource_name, r.reachability::text, r.message, r.last_seen_at, r.kubernetes_version, r.capacity, r.cpu_millis, r.memory_bytes,
    r.gpu_count, r.conditions, r.storage_classes,
    (SELECT coalesce(sum(d.cpu_millis), 0)::bigint FROM deployments d WHERE d.cluster_id = r.id) AS allocated_cpu,
    (SELECT coalesce(sum(d.memory_bytes), 0)::bigint FROM deployments d WHERE d.cluster_id = r.id) AS allocated_memory,
    (SELECT coalesce(sum(d.gpu_count), 0)::int FROM deployments d WHERE d.cluster_id = r.id) AS allocated_gpus`,
};

/** A cluster as the API shows it. */
export const presentCluster = (row: ClusterRow) => ({
  ...presentCommon(row),
  server: row.server,
  ca_certificate: row.ca_certificate,
  auth_kind: row.auth_kind,
  namespace: row.namespace,
  network_types: row.network_types,
  default_storage_class: row.default_storage_class,
  gpu_resource_name: row.gpu_resource_name,
  reachability: row.reachability,
  message: row.message,
  last_seen_at: row.last_seen_at,
  kubernetes_version: row.kubernetes_version,
  capacity: row.capacity && { ...row.capacity },
  allocatable:
    row.cpu_millis === null || row.memory_bytes === null
      ? null
      : showAmount({ cpu_millis: row.cpu_millis, memory_bytes: row.memory_bytes, gpu_count: row.gpu_count ?? 0 }),
  allocated: showAmount({
    cpu_millis: row.allocated_cpu,
    memory_bytes: row.allocated_memory,
    gpu_count: row.allocated_gpus,
  }),
  conditions: presentConditions(row.conditions),
  storage_classes: [...row.storage_classes],
});

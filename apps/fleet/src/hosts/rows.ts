import { Prisma } from '../generated/prisma/client.ts';
import { showAmount } from '../resources/quantities.ts';
import { type Kind, presentCommon, type ResourceRow } from '../resources/rows.ts';

interface Taint {
  readonly key: string;
  readonly value: string;
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
}

interface Gpu {
  readonly id: string;
  readonly model: string;
  readonly vram: string;
}

/** A host, or a node of a cluster. */
export interface MachineRow extends ResourceRow {
  readonly engine: 'docker' | 'podman' | 'kubernetes';
  /** Of a node: its cluster. */
  readonly cluster_id: string | null;
  /** null: a node. */
  readonly endpoint: string | null;
  readonly has_credentials: boolean;
  readonly network_types: string[];
  readonly taints: Taint[];
  readonly schedulable: boolean;
  readonly gpus: Gpu[];
  readonly reachability: 'unknown' | 'online' | 'unreachable';
  readonly message: string;
  readonly last_seen_at: Date | null;
  readonly engine_version: string | null;
  readonly arch: string | null;
  readonly cpu_millis: bigint | null;
  readonly memory_bytes: bigint | null;
  readonly gpu_count: number;
  readonly allocated_cpu: bigint;
  readonly allocated_memory: bigint;
  readonly allocated_gpus: string[];
}

export interface HostRow extends MachineRow {
  readonly cluster_id: null;
  readonly endpoint: string;
}

const own = Prisma.sql`r.engine::text, r.endpoint, r.network_types, r.taints, r.schedulable, r.gpus, r.reachability::text, r.message,
    r.last_seen_at, r.engine_version, r.arch, r.cpu_millis, r.memory_bytes,
    (SELECT coalesce(sum(d.cpu_millis), 0)::bigint FROM deployments d WHERE d.host_id = r.id) AS allocated_cpu,
    (SELECT coalesce(sum(d.memory_bytes), 0)::bigint FROM deployments d WHERE d.host_id = r.id) AS allocated_memory,
    ARRAY(SELECT g.gpu_id FROM allocated_gpus g WHERE g.host_id = r.id ORDER BY g.gpu_id) AS allocated_gpus`;

/** What is registered here, and can be changed. */
export const hosts: Kind = {
  table: 'hosts',
  columns: Prisma.sql`${own}, r.sealed IS NOT NULL AS has_credentials, NULL::uuid AS cluster_id, jsonb_array_length(r.gpus) AS gpu_count`,
};

/** Hosts, and the nodes of clusters beside them. */
export const machines: Kind = {
  table: 'machines',
  columns: Prisma.sql`${own}, r.has_credentials, r.cluster_id, r.gpu_count`,
};

/** A host as the API shows it. */
export const presentHost = (row: MachineRow) => ({
  ...presentCommon(row),
  engine: row.engine,
  cluster_id: row.cluster_id,
  endpoint: row.endpoint,
  has_credentials: row.has_credentials,
  network_types: row.network_types,
  taints: row.taints,
  schedulable: row.schedulable,
  gpus: row.gpus,
  reachability: row.reachability,
  message: row.message,
  last_seen_at: row.last_seen_at,
  engine_version: row.engine_version,
  arch: row.arch,
  capacity:
    row.cpu_millis === null || row.memory_bytes === null
      ? null
      : showAmount({ cpu_millis: row.cpu_millis, memory_bytes: row.memory_bytes, gpu_count: row.gpu_count }),
  allocated:
    row.cluster_id === null
      ? showAmount({
          cpu_millis: row.allocated_cpu,
          memory_bytes: row.allocated_memory,
          gpu_count: row.allocated_gpus.length,
        })
      : null,
});

import type { Prisma } from '../generated/prisma/client.ts';
import type { ClusterCandidate, ClusterNode, HostCandidate, Reachability, Taint } from '../placement/candidates.ts';
import { bytes } from '../quantities.ts';

type Reader = Pick<Prisma.TransactionClient, '$queryRaw'>;

interface HostRow {
  readonly id: string;
  readonly name: string;
  readonly labels: Record<string, string>;
  readonly taints: Taint[];
  readonly schedulable: boolean;
  readonly reachability: Reachability;
  readonly network_types: string[];
  readonly cpu_millis: number | null;
  readonly memory_bytes: number | null;
  readonly gpus: { readonly id: string; readonly model: string; readonly vram: string }[];
  readonly used_cpu: number;
  readonly used_memory: number;
  readonly used_gpus: string[];
}

interface ClusterRow {
  readonly id: string;
  readonly name: string;
  readonly reachability: Reachability;
  readonly network_types: string[];
  readonly cpu_millis: number | null;
  readonly memory_bytes: number | null;
  readonly gpu_count: number | null;
  readonly used_cpu: number;
  readonly used_memory: number;
  readonly used_gpus: number;
  readonly nodes: NodeRow[];
}

interface NodeRow {
  readonly name: string;
  readonly labels: Record<string, string>;
  readonly taints: Taint[];
  readonly schedulable: boolean;
  readonly cpu_millis: number;
  readonly memory_bytes: number;
  readonly gpu_count: number;
}

const NO_DEPLOYMENT = '00000000-0000-0000-0000-000000000000';

/**
 * All hosts and clusters as candidates, with their allocated resources; the allocation of `deploymentId` does not
 * count. It runs two statements, regardless of the number of candidates.
 */
export async function readCandidates(reader: Reader, deploymentId = NO_DEPLOYMENT) {
  const hosts = await reader.$queryRaw<HostRow[]>`
    SELECT h.id, h.name, h.labels, h.taints, h.schedulable, h.reachability::text AS reachability, h.network_types, h.gpus,
           h.cpu_millis::float8, h.memory_bytes::float8,
           coalesce(d.cpu, 0)::float8 AS used_cpu, coalesce(d.memory, 0)::float8 AS used_memory,
           coalesce(g.ids, '{}') AS used_gpus
    FROM hosts h
    LEFT JOIN (SELECT host_id, sum(cpu_millis) AS cpu, sum(memory_bytes) AS memory FROM deployments
               WHERE id <> ${deploymentId}::uuid GROUP BY host_id) d ON d.host_id = h.id
    LEFT JOIN (SELECT host_id, array_agg(gpu_id) AS ids FROM allocated_gpus
               WHERE deployment_id <> ${deploymentId}::uuid GROUP BY host_id) g ON g.host_id = h.id`;
  const clusters = await reader.$queryRaw<ClusterRow[]>`
    SELECT c.id, c.name, c.reachability::text AS reachability, c.network_types, c.gpu_count,
           c.cpu_millis::float8, c.memory_bytes::float8, coalesce(d.cpu, 0)::float8 AS used_cpu,
           coalesce(d.memory, 0)::float8 AS used_memory, coalesce(d.gpus, 0)::int AS used_gpus, coalesce(n.nodes, '[]') AS nodes
    FROM clusters c
    LEFT JOIN (SELECT cluster_id, jsonb_agg(jsonb_build_object('name', name, 'labels', labels, 'taints', taints,
                 'schedulable', schedulable AND ready, 'cpu_millis', cpu_millis, 'memory_bytes', memory_bytes,
                 'gpu_count', gpu_count) ORDER BY name) AS nodes
               FROM nodes GROUP BY cluster_id) n ON n.cluster_id = c.id
    LEFT JOIN (SELECT cluster_id, sum(cpu_millis) AS cpu, sum(memory_bytes) AS memory, sum(gpu_count) AS gpus FROM deployments
               WHERE id <> ${deploymentId}::uuid GROUP BY cluster_id) d ON d.cluster_id = c.id`;
  return [...hosts.map(hostCandidate), ...clusters.map(clusterCandidate)];
}

const amounts = ({ cpu_millis, memory_bytes }: Pick<HostRow, 'cpu_millis' | 'memory_bytes'>) =>
  cpu_millis === null || memory_bytes === null ? null : { cpu_millis, memory_bytes };

const hostCandidate = (row: HostRow): HostCandidate => ({
  kind: 'host',
  id: row.id,
  name: row.name,
  labels: row.labels,
  taints: row.taints,
  schedulable: row.schedulable,
  reachability: row.reachability,
  network_types: row.network_types,
  capacity: amounts(row),
  gpus: row.gpus.map(({ id, model, vram }) => ({ id, model, vram_bytes: bytes(vram) })),
  allocated: { cpu_millis: row.used_cpu, memory_bytes: row.used_memory, gpus: row.used_gpus },
});

/** The scheduler of the cluster makes the final choice of a node. */
function clusterCandidate(row: ClusterRow): ClusterCandidate {
  const known = amounts(row);
  return {
    kind: 'cluster',
    id: row.id,
    name: row.name,
    reachability: row.reachability,
    network_types: row.network_types,
    allocatable: known && { ...known, gpu_count: row.gpu_count ?? 0 },
    allocated: { cpu_millis: row.used_cpu, memory_bytes: row.used_memory, gpu_count: row.used_gpus },
    nodes: row.nodes.map(nodeOf),
  };
}

/** The node label of NVIDIA's GPU feature discovery: the memory of each GPU in MiB. */
const GPU_MEMORY = 'nvidia.com/gpu.memory';

function nodeOf({ name, labels, taints, schedulable, ...allocatable }: NodeRow): ClusterNode {
  const mebibytes = Number(labels[GPU_MEMORY]);
  const vram = mebibytes > 0 ? { vram_bytes: mebibytes * 2 ** 20 } : {};
  return { name, labels, taints, schedulable, allocatable, ...vram };
}

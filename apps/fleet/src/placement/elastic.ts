import type { Obstacle } from '@svc/contract/fleet';
import type { Candidate, ClusterCandidate, CountedAmounts, ElasticLimits, PlacementRequest } from './candidates.ts';
import { formatCores, formatMemory, pluralize } from './format.ts';
import { replicasThatFit, suitableNodes } from './nodes.ts';
import { capacityRemedies, ofWorkload, onTarget } from './remedies.ts';

/** A cluster that adds nodes when pods need them, whose capacity is known. */
export interface ElasticCluster extends ClusterCandidate {
  readonly allocatable: CountedAmounts;
  readonly elastic: ElasticLimits;
}

export const isElastic = (candidate: Candidate): candidate is ElasticCluster =>
  candidate.kind === 'cluster' && candidate.allocatable !== null && candidate.elastic !== undefined;

/** How an elastic cluster can run a deployment that does not fit on its present nodes. */
export interface Growth {
  /** The number of nodes that it must add; 0 if the obstacles exclude it. */
  readonly new_nodes: number;
  readonly notes: readonly string[];
  /** The limits that exclude it. */
  readonly obstacles: readonly Obstacle[];
}

const AMOUNTS = ['cpu_millis', 'memory_bytes', 'gpu_count'] as const;

/**
 * Assesses a deployment for which the present nodes do not suffice. Replicas that they have capacity
 * for stay on them. The others need new nodes: each must be within the limits per replica, and all
 * within the limits of nodes and GPUs. What is allocated beyond the present nodes already waits for
 * new ones, which it can share with the deployment. As for present nodes, the sum of the amounts
 * counts. Labels and taints of new nodes are not known.
 */
export function assessGrowth(request: PlacementRequest, cluster: ElasticCluster): Growth {
  const tooLarge = excessOfReplica(request, cluster.elastic);
  if (tooLarge.length > 0) return { new_nodes: 0, notes: [], obstacles: tooLarge };
  const { elastic, nodes } = cluster;
  const need = needOf(request, cluster);
  const { present } = need;
  const obstacles = [...nodeObstacles(request, cluster, need), ...gpuObstacles(request, cluster, need)];
  if (obstacles.length > 0) return { new_nodes: 0, notes: [], obstacles };
  const new_nodes = Math.max(1, need.additional);
  const what = new_nodes === 1 ? 'a new node' : `${new_nodes} new nodes`;
  const where = `${nodes.length} of at most ${pluralize(elastic.max_nodes, 'node')} exist`;
  const capacity = `the present nodes have capacity for ${present} of ${pluralize(request.replicas, 'replica')}, and ${where}`;
  return { new_nodes, notes: [`needs ${what}: ${capacity}`, ...notesOfAdmission(request)], obstacles };
}

/** What a deployment needs beyond the present nodes, and what the cluster can add. */
interface Need {
  /** The replicas that the present nodes have capacity for. */
  readonly present: number;
  /** The new nodes in addition to those that others wait for; 0: it shares these. */
  readonly additional: number;
  /** The replicas that fit on a new node. */
  readonly perNode: number;
  /** The nodes that the cluster can add in addition to those that others wait for. */
  readonly nodes: number;
  /** The GPUs of suitable models that it can add. */
  readonly gpus: number;
}

function needOf(request: PlacementRequest, cluster: ElasticCluster): Need {
  const { allocated, elastic, nodes } = cluster;
  const present = presentReplicas(request, cluster);
  const added = request.replicas - present;
  const perNode = replicasThatFit(request, elastic.per_replica);
  const waiting = (amount: (typeof AMOUNTS)[number]) =>
    Math.max(0, allocated[amount] - nodes.reduce((sum, { allocatable }) => sum + allocatable[amount], 0));
  const nodesFor = (replicas: number) =>
    Math.max(
      ...AMOUNTS.map((amount) => {
        const needed = waiting(amount) + replicas * request.per_replica[amount];
        return needed === 0 ? 0 : Math.ceil(needed / Math.max(1, elastic.per_replica[amount]));
      }),
    );
  const awaited = nodesFor(0);
  const gpus = suitableGpus(request, elastic).reduce((sum, limit) => sum + gpuRoom(limit, nodes), 0);
  return {
    present,
    perNode,
    additional: Math.max(0, nodesFor(added) - awaited, Math.ceil(added / perNode) - awaited),
    nodes: Math.max(0, elastic.max_nodes - nodes.length - awaited),
    gpus: Math.max(0, gpus - waiting('gpu_count')),
  };
}

/** What new nodes are not known to admit. */
function notesOfAdmission({ node_selector }: PlacementRequest): string[] {
  const labels = Object.entries(node_selector).filter(([key]) => key !== GPU_PRODUCT);
  if (labels.length === 0) return [];
  const selector = labels.map(([key, value]) => `${key}=${value}`).join(', ');
  return [`the labels of new nodes are not known, so the node selector ${selector} was not checked`];
}

/** The reasons why one replica exceeds the limits. */
function excessOfReplica(request: PlacementRequest, elastic: ElasticLimits): Obstacle[] {
  const { cpu_millis, memory_bytes, gpu_count } = request.per_replica;
  const { per_replica: limit } = elastic;
  const obstacles: Obstacle[] = [];
  const exceeds = (needs: string, has: string, remedy: Obstacle['remedies'][number]) =>
    obstacles.push({
      code: 'elastic_limit',
      message: `a replica needs ${needs}, and the limit of the elastic cluster per replica is ${has}`,
      remedies: [remedy],
    });
  if (cpu_millis > limit.cpu_millis) {
    const needs = pluralize(formatCores(cpu_millis), 'CPU');
    exceeds(needs, formatCores(limit.cpu_millis), ofWorkload('cpu_request'));
  }
  if (memory_bytes > limit.memory_bytes) {
    const needs = `${formatMemory(memory_bytes, 'up')} of memory`;
    exceeds(needs, formatMemory(limit.memory_bytes, 'down'), ofWorkload('memory_request'));
  }
  if (gpu_count > limit.gpu_count) {
    exceeds(pluralize(gpu_count, 'GPU'), String(limit.gpu_count), ofWorkload('gpu_count'));
  }
  return obstacles;
}

/** The number of replicas that the present nodes have capacity for. Without nodes, it is 0. */
function presentReplicas(request: PlacementRequest, { allocatable, allocated, nodes }: ElasticCluster): number {
  const each = request.per_replica;
  const byAmounts = AMOUNTS.filter((amount) => each[amount] > 0).map((amount) =>
    Math.floor(Math.max(0, allocatable[amount] - allocated[amount]) / each[amount]),
  );
  return Math.min(request.replicas, replicasOnEmpty(request, nodes), ...byAmounts);
}

/** The number of replicas that the suitable nodes could run if they were empty. */
const replicasOnEmpty = (request: PlacementRequest, nodes: ClusterCandidate['nodes']): number =>
  suitableNodes(request, nodes).reduce((sum, { allocatable }) => sum + replicasThatFit(request, allocatable), 0);

/** The node label of NVIDIA's GPU feature discovery: the model of the GPUs. */
const GPU_PRODUCT = 'nvidia.com/gpu.product';

type GpuLimit = ElasticLimits['gpus'][number];

const suitableGpus = ({ per_replica, node_selector }: PlacementRequest, { gpus }: ElasticLimits): readonly GpuLimit[] =>
  gpus.filter(
    ({ model, vram_bytes }) => vram_bytes >= per_replica.vram_bytes && (node_selector[GPU_PRODUCT] ?? model) === model,
  );

/** How many GPUs of a model can be added. Present GPUs without a model count for each model. */
const gpuRoom = ({ model, count }: GpuLimit, nodes: ClusterCandidate['nodes']): number =>
  nodes
    .filter(({ labels }) => (labels[GPU_PRODUCT] ?? model) === model)
    .reduce((rest, { allocatable }) => Math.max(0, rest - allocatable.gpu_count), count);

function nodeObstacles(
  request: PlacementRequest,
  { elastic: { max_nodes }, nodes }: ElasticCluster,
  need: Need,
): Obstacle[] {
  const { present, additional, perNode } = need;
  if (additional <= need.nodes) return [];
  const { replicas } = request;
  const onNew = (count: number) => count * Math.min(perNode, replicas);
  const message = `needs ${pluralize(additional, 'new node')}, and the limit of ${pluralize(max_nodes, 'node')} of the elastic cluster permits ${need.nodes}`;
  const total = replicasOnEmpty(request, nodes) + onNew(Math.max(0, max_nodes - nodes.length));
  const remedies = capacityRemedies(
    { each: 1, replicas, free: present + onNew(need.nodes), total: Math.min(replicas, total) },
    onTarget('elastic', ['max_nodes']),
  );
  return [{ code: 'elastic_limit', message, remedies }];
}

function gpuObstacles(request: PlacementRequest, { elastic }: ElasticCluster, { present, gpus }: Need): Obstacle[] {
  const { replicas } = request;
  const { gpu_count: each, vram_bytes } = request.per_replica;
  const needed = (replicas - present) * each;
  if (needed <= gpus) return [];
  const size = vram_bytes > 0 ? ` with at least ${formatMemory(vram_bytes, 'up')} each` : '';
  const message = `needs ${pluralize(needed, 'new GPU')}${size}, and the limits of the elastic cluster permit ${gpus}`;
  const total = suitableGpus(request, elastic).reduce((sum, { count }) => sum + count, 0);
  const remedies = capacityRemedies(
    { each, replicas, free: present * each + gpus, total },
    onTarget('elastic', ['gpus']),
  );
  return [{ code: 'elastic_limit', message, remedies }];
}

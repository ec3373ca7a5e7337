import type { Obstacle, Remedy } from '@svc/contract/fleet';
import type {
  ClusterCandidate,
  ClusterNode,
  CountedAmounts,
  Machine,
  PlacementRequest,
  PlacementRequirements,
  Taint,
  Toleration,
} from './candidates.ts';
import { compareStrings, formatCores, formatMemory, pluralize } from './format.ts';
import { ofWorkload, onRequest, onTarget } from './remedies.ts';

/**
 * The rule of Kubernetes. A toleration without a key must have the operator `Exists`, and then
 * tolerates all keys.
 */
export function tolerates(toleration: Toleration, taint: Taint): boolean {
  const { key = '', operator = 'Equal', value = '', effect = '' } = toleration;
  if (effect !== '' && effect !== taint.effect) return false;
  if (operator === 'Exists') return key === '' || key === taint.key;
  return key === taint.key && value === (taint.value ?? '');
}

const untolerated = (machine: Machine, { tolerations }: PlacementRequirements): Taint[] =>
  machine.taints.filter((taint) => !tolerations.some((toleration) => tolerates(toleration, taint)));

/** Taints that exclude workloads without a toleration. `NoExecute` counts as `NoSchedule`. */
const refusingTaints = (machine: Machine, requirements: PlacementRequirements): Taint[] =>
  untolerated(machine, requirements).filter(({ effect }) => effect !== 'PreferNoSchedule');

/** Taints that lower the preference for a machine, but do not exclude it. */
export const avoidedTaints = (machine: Machine, requirements: PlacementRequirements): Taint[] =>
  untolerated(machine, requirements).filter(({ effect }) => effect === 'PreferNoSchedule');

/** A taint in the notation of kubectl: `gpu=true:NoSchedule`. */
export const taintText = ({ key, value, effect }: Taint): string => `${key}${value ? `=${value}` : ''}:${effect}`;

/**
 * A label that the node selector requires and the machine does not have; `actual` is the value that
 * it has, if any.
 */
export interface UnmetLabel {
  readonly key: string;
  readonly required: string;
  readonly actual: string | undefined;
}

/** The labels of the node selector that a machine does not have, or has with another value. */
const unmetLabels = ({ labels }: Machine, { node_selector }: PlacementRequirements): UnmetLabel[] =>
  Object.entries(node_selector)
    .map(([key, required]) => ({ key, required, actual: Object.hasOwn(labels, key) ? labels[key] : undefined }))
    .filter(({ required, actual }) => actual !== required);

function labelObstacle({ key, required, actual }: UnmetLabel): Obstacle {
  const message =
    actual === undefined
      ? `has no label ${key}; the node selector requires "${required}"`
      : `label ${key} is "${actual}"; the node selector requires "${required}"`;
  return { code: 'label_missing', message, remedies: [onTarget('labels', [`${key}=${required}`])] };
}

const taintObstacle = (taint: Taint): Obstacle => ({
  code: 'taint_not_tolerated',
  message: `taint ${taintText(taint)} is not tolerated`,
  remedies: [onTarget('taints', [taintText(taint)])],
});

const SCHEDULING_DISABLED: Obstacle = {
  code: 'scheduling_disabled',
  message: 'does not accept new deployments (schedulable is false)',
  remedies: [onTarget('schedulable')],
};

/** The reasons why a machine does not admit a workload, regardless of its capacity. */
export const admissionObstacles = (machine: Machine, requirements: PlacementRequirements): Obstacle[] => [
  ...(machine.schedulable ? [] : [SCHEDULING_DISABLED]),
  ...unmetLabels(machine, requirements).map(labelObstacle),
  ...refusingTaints(machine, requirements).map(taintObstacle),
];

/** The result of a placement request for the nodes of a cluster. */
export interface NodesAssessment {
  readonly obstacles: readonly Obstacle[];
  /**
   * The number of untolerated `PreferNoSchedule` taints on the feasible node with the fewest of
   * them.
   */
  readonly avoidedTaints: number;
  /** Whether GPU memory is required, but the GPU memory of no feasible node is known. */
  readonly vramUnknown: boolean;
}

/**
 * Assesses the nodes of a cluster. The scheduler of the cluster chooses among them, so it is enough
 * that some can run the replicas. If the nodes are not known, there are no reasons against the
 * cluster.
 */
export function assessNodes(request: PlacementRequest, { nodes }: ClusterCandidate): NodesAssessment {
  const vramMatters = request.per_replica.vram_bytes > 0;
  if (nodes.length === 0) return { obstacles: [], avoidedTaints: 0, vramUnknown: vramMatters };
  const feasible = suitableNodes(request, nodes);
  return {
    obstacles: feasible.length === 0 ? [noFeasibleNode(request, nodes)] : insufficientCapacity(request, feasible),
    avoidedTaints: Math.min(...feasible.map((node) => avoidedTaints(node, request).length)),
    vramUnknown: vramMatters && feasible.every(({ vram_bytes }) => vram_bytes === undefined),
  };
}

/** The nodes that can run a replica while they are empty. */
export const suitableNodes = (request: PlacementRequest, nodes: readonly ClusterNode[]): ClusterNode[] =>
  nodes.filter((node) => nodeShortcomings(request, node).length === 0);

/** A reason why a node cannot run a replica, as the end of the sentence "2 nodes ...". */
interface Shortcoming {
  readonly text: string;
  readonly remedy: Remedy;
}

function nodeShortcomings(request: PlacementRequest, node: ClusterNode): Shortcoming[] {
  const { cpu_millis, memory_bytes, gpu_count, vram_bytes } = request.per_replica;
  const { allocatable } = node;
  const shortcomings: Shortcoming[] = [];
  if (!node.schedulable) shortcomings.push({ text: 'unschedulable', remedy: onTarget('check') });
  if (cpu_millis > allocatable.cpu_millis) {
    const text = `with fewer than ${pluralize(formatCores(cpu_millis), 'CPU')}`;
    shortcomings.push({ text, remedy: ofWorkload('cpu_request') });
  }
  if (memory_bytes > allocatable.memory_bytes) {
    const text = `with less than ${formatMemory(memory_bytes, 'up')} of memory`;
    shortcomings.push({ text, remedy: ofWorkload('memory_request') });
  }
  if (gpu_count > allocatable.gpu_count) {
    const text = `with fewer than ${pluralize(gpu_count, 'GPU')}`;
    shortcomings.push({ text, remedy: ofWorkload('gpu_count') });
  }
  if (vram_bytes > (node.vram_bytes ?? vram_bytes)) {
    const text = `with GPUs of less than ${formatMemory(vram_bytes, 'up')}`;
    shortcomings.push({ text, remedy: ofWorkload('vram_request') });
  }
  for (const { key, required } of unmetLabels(node, request)) {
    const label = `${key}=${required}`;
    shortcomings.push({ text: `without label ${label}`, remedy: ofWorkload('node_selector', [label]) });
  }
  for (const taint of refusingTaints(node, request)) {
    const text = `with taint ${taintText(taint)} that is not tolerated`;
    shortcomings.push({ text, remedy: ofWorkload('tolerations', [taintText(taint)]) });
  }
  return shortcomings;
}

/** The remedies are those of the node with the fewest shortcomings, if possible of one that the workload selects. */
function noFeasibleNode(request: PlacementRequest, nodes: readonly ClusterNode[]): Obstacle {
  const all = nodes.map((node) => nodeShortcomings(request, node));
  const counts = new Map<string, number>();
  for (const { text } of all.flat()) counts.set(text, (counts.get(text) ?? 0) + 1);
  const mostFrequentFirst = [...counts].toSorted(
    ([one, ones], [other, others]) => others - ones || compareStrings(one, other),
  );
  const each = mostFrequentFirst.map(([shortcoming, count]) => `${count} ${shortcoming}`).join(', ');
  const isSelected = (shortcomings: readonly Shortcoming[]) =>
    shortcomings.every(({ remedy }) => remedy.field !== 'node_selector');
  const [closest = []] = all.toSorted(
    (one, other) => one.length - other.length || Number(isSelected(other)) - Number(isSelected(one)),
  );
  return {
    code: 'no_suitable_node',
    message: `none of ${pluralize(nodes.length, 'node')} can run a replica: ${each}`,
    remedies: closest.map(({ remedy }) => remedy),
  };
}

function insufficientCapacity(request: PlacementRequest, feasible: readonly ClusterNode[]): Obstacle[] {
  const capacity = feasible.reduce((sum, node) => sum + replicasThatFit(request, node.allocatable), 0);
  if (capacity >= request.replicas) return [];
  const feasibleNodes =
    feasible.length === 1
      ? 'the only node that can run one has capacity for'
      : `the ${feasible.length} nodes that can run one have capacity for`;
  const message = `needs capacity for ${request.replicas} replicas, ${feasibleNodes} ${capacity}, even without other pods`;
  return [{ code: 'nodes_too_small', message, remedies: [onRequest('replicas', [String(capacity)])] }];
}

/** The number of replicas that fit on an empty node with these amounts; infinite without requirements. */
export function replicasThatFit({ per_replica }: PlacementRequest, allocatable: CountedAmounts): number {
  const members = ['cpu_millis', 'memory_bytes', 'gpu_count'] as const;
  const requested = members.filter((member) => per_replica[member] > 0);
  return Math.min(...requested.map((member) => Math.floor(allocatable[member] / per_replica[member])));
}

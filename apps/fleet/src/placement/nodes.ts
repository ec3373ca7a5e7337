import type { ClusterCandidate, ClusterNode, Machine, Taint } from './candidates.ts';
import { byText, cores, counted, memory } from './format.ts';
import type { Needs, Toleration, Wish } from './requirements.ts';

/** Kubernetes' rule; a toleration without a key must be `Exists` and then tolerates every key. */
export function tolerates(toleration: Toleration, taint: Taint): boolean {
  const { key = '', operator = 'Equal', value = '', effect = '' } = toleration;
  if (effect !== '' && effect !== taint.effect) return false;
  if (operator === 'Exists') return key === '' || key === taint.key;
  return key === taint.key && value === (taint.value ?? '');
}

const untolerated = (machine: Machine, { tolerations }: Needs): Taint[] =>
  machine.taints.filter((taint) => !tolerations.some((toleration) => tolerates(toleration, taint)));

/** Taints that keep everything away that doesn't tolerate them, `NoExecute` as `NoSchedule`. */
const refusingTaints = (machine: Machine, needs: Needs): Taint[] =>
  untolerated(machine, needs).filter(({ effect }) => effect !== 'PreferNoSchedule');

/** Taints that only ask to go elsewhere. */
export const avoidedTaints = (machine: Machine, needs: Needs): Taint[] =>
  untolerated(machine, needs).filter(({ effect }) => effect === 'PreferNoSchedule');

/** As kubectl writes it: `gpu=true:NoSchedule`. */
export const taintText = ({ key, value, effect }: Taint): string => `${key}${value ? `=${value}` : ''}:${effect}`;

/** A label that the selector asks for; `is` is what the machine has instead. */
export interface UnmetLabel {
  readonly key: string;
  readonly wanted: string;
  readonly is: string | undefined;
}

/** The labels of the node selector that a machine lacks or has with another value. */
const unmetLabels = ({ labels }: Machine, { node_selector }: Needs): UnmetLabel[] =>
  Object.entries(node_selector)
    .map(([key, wanted]) => ({ key, wanted, is: Object.hasOwn(labels, key) ? labels[key] : undefined }))
    .filter(({ wanted, is }) => is !== wanted);

const labelReason = ({ key, wanted, is }: UnmetLabel): string =>
  is === undefined
    ? `has no label ${key}, "${wanted}" is asked for`
    : `label ${key} is "${is}", "${wanted}" is asked for`;

/** Why a single machine does not take what has these needs, whatever its size. */
export const admissionReasons = (machine: Machine, needs: Needs): string[] => [
  ...(machine.schedulable ? [] : ['is closed to new deployments (schedulable is false)']),
  ...unmetLabels(machine, needs).map(labelReason),
  ...refusingTaints(machine, needs).map((taint) => `taint ${taintText(taint)} is not tolerated`),
];

/** What the nodes of a cluster mean for a wish. */
export interface NodesVerdict {
  readonly reasons: readonly string[];
  /** `PreferNoSchedule` taints on the node that has the fewest of them. */
  readonly avoidedTaints: number;
  /** None of the nodes that could run a replica says how much memory its GPUs have, and that matters. */
  readonly vramUnknown: boolean;
}

/** Judges the nodes: the cluster chooses among them, so there must be some that hold the replicas. Unknown nodes refuse nothing. */
export function judgeNodes(wish: Wish, { nodes }: ClusterCandidate): NodesVerdict {
  const vramMatters = wish.per_replica.vram_bytes > 0;
  if (nodes.length === 0) return { reasons: [], avoidedTaints: 0, vramUnknown: vramMatters };
  const able = nodes.filter((node) => lacks(wish, node).length === 0);
  return {
    reasons: able.length === 0 ? [noneAble(wish, nodes)] : tooLittleRoom(wish, able),
    avoidedTaints: Math.min(...able.map((node) => avoidedTaints(node, wish).length)),
    vramUnknown: vramMatters && able.every(({ vram_bytes }) => vram_bytes === undefined),
  };
}

function lacks(wish: Wish, node: ClusterNode): string[] {
  const { cpu_millis, memory_bytes, gpu_count, vram_bytes } = wish.per_replica;
  const { allocatable } = node;
  const tooSmall: readonly (readonly [boolean, string])[] = [
    [!node.schedulable, 'closed (schedulable is false)'],
    [cpu_millis > allocatable.cpu_millis, `with fewer than ${counted(cores(cpu_millis), 'CPU')}`],
    [memory_bytes > allocatable.memory_bytes, `with less than ${memory(memory_bytes, 'up')} of memory`],
    [gpu_count > allocatable.gpu_count, `with fewer than ${counted(gpu_count, 'GPU')}`],
    [vram_bytes > (node.vram_bytes ?? vram_bytes), `with GPUs of less than ${memory(vram_bytes, 'up')}`],
  ];
  return [
    ...tooSmall.filter(([lacking]) => lacking).map(([, lack]) => lack),
    ...unmetLabels(node, wish).map(({ key, wanted }) => `without label ${key}=${wanted}`),
    ...refusingTaints(node, wish).map((taint) => `with taint ${taintText(taint)} that is not tolerated`),
  ];
}

function noneAble(wish: Wish, nodes: readonly ClusterNode[]): string {
  const howMany = new Map<string, number>();
  for (const lack of nodes.flatMap((node) => lacks(wish, node))) howMany.set(lack, (howMany.get(lack) ?? 0) + 1);
  const mostFirst = [...howMany].toSorted(([one, ones], [other, others]) => others - ones || byText(one, other));
  const each = mostFirst.map(([lack, number]) => `${number} ${lack}`).join(', ');
  return `none of ${counted(nodes.length, 'node')} can run a replica: ${each}`;
}

function tooLittleRoom(wish: Wish, able: readonly ClusterNode[]): string[] {
  const room = able.reduce((sum, node) => sum + replicasOn(wish, node), 0);
  if (room >= wish.replicas) return [];
  const those =
    able.length === 1 ? 'the only node that can run one holds' : `the ${able.length} nodes that can run one hold`;
  return [`needs room for ${wish.replicas} replicas, ${those} ${room} even when nothing else runs there`];
}

/** How many replicas an empty node holds. */
function replicasOn({ per_replica }: Wish, { allocatable }: ClusterNode): number {
  const members = ['cpu_millis', 'memory_bytes', 'gpu_count'] as const;
  const asked = members.filter((member) => per_replica[member] > 0);
  return Math.min(...asked.map((member) => Math.floor(allocatable[member] / per_replica[member])));
}

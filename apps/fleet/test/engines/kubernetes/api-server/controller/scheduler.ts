import { bytes, milli } from '../../../../../src/placement/quantities.ts';
import { at, isTree, type Stored, type Tree, textAt } from '../objects.ts';
import type { Store } from '../store.ts';
import type { ControlledCluster } from './controls.ts';
import { unschedulable } from './pod-status.ts';

/** Binds pending pods to nodes with the capacity for them, and starts them. Others are unschedulable. */
export function schedulePods({ store, controls }: ControlledCluster): void {
  for (const pod of store.list('pods')) {
    if (textAt(pod, 'spec.nodeName') !== '' || pod.metadata.deletionTimestamp) continue;
    const node = store.list('nodes').find((each) => canRun(store, each, pod));
    if (node) {
      const spec = { ...pod.spec, nodeName: node.metadata.name };
      store.put('pods', { ...pod, spec, status: { ...controls.podStatus() } });
    } else if (!isReported(pod)) {
      const count = store.list('nodes').length;
      const status = { ...unschedulable(`0/${count} nodes are available: ${count} Insufficient resources.`)() };
      store.put('pods', { ...pod, status });
    }
  }
}

/** Whether the pod is reported as unschedulable already. */
const isReported = ({ status }: Stored): boolean => Array.isArray(status?.conditions) && status.conditions.length > 0;

const RESOURCES = ['cpu', 'memory', 'nvidia.com/gpu'] as const;

function canRun(store: Store, node: Stored, pod: Stored): boolean {
  if (at(node, 'spec.unschedulable') === true || !hasLabels(node, pod) || !toleratesTaints(node, pod)) return false;
  const others = store.list('pods').filter((other) => textAt(other, 'spec.nodeName') === node.metadata.name);
  return RESOURCES.every((resource) => {
    const used = others.reduce((sum, other) => sum + requestOf(other, resource), 0);
    const status = at(node, 'status.allocatable');
    const allocatable = amountOf(resource, isTree(status) ? status[resource] : undefined);
    return used + requestOf(pod, resource) <= allocatable;
  });
}

function hasLabels(node: Stored, pod: Stored): boolean {
  const selector = at(pod, 'spec.nodeSelector');
  return !isTree(selector) || Object.entries(selector).every(([key, value]) => node.metadata.labels?.[key] === value);
}

/** Tolerations with the operator `Exists` and the key of the taint, or without a key. */
function toleratesTaints(node: Stored, pod: Stored): boolean {
  const treesAt = (object: Stored, path: string) => {
    const found = at(object, path);
    return Array.isArray(found) ? found.filter(isTree) : [];
  };
  const tolerations = treesAt(pod, 'spec.tolerations');
  return treesAt(node, 'spec.taints').every(
    ({ key, value, effect }) =>
      effect === 'PreferNoSchedule' ||
      tolerations.some(
        (each) => (each.key ?? key) === key && (each.operator === 'Exists' || (each.value ?? '') === (value ?? '')),
      ),
  );
}

const amountOf = (resource: (typeof RESOURCES)[number], quantity: unknown): number =>
  resource === 'cpu' ? milli(String(quantity ?? '')) : bytes(String(quantity ?? ''));

function requestOf(pod: Stored, resource: (typeof RESOURCES)[number]): number {
  const containers = (at(pod, 'spec.containers') ?? []) as Tree[];
  return containers.reduce((sum, container) => {
    const quantity = [at(container, 'resources.requests'), at(container, 'resources.limits')]
      .map((quantities) => (isTree(quantities) ? quantities[resource] : undefined))
      .find((each) => each !== undefined);
    return sum + amountOf(resource, quantity);
  }, 0);
}

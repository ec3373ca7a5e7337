// The decisions of the simulated autoscaler.

const SUFFIXES = { m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 };

/** The number that a quantity of Kubernetes states, such as `500m` or `32Gi`. */
export function quantity(text) {
  const [, digits, suffix] = /^([\d.]+)(m|k|M|G|T|Ki|Mi|Gi|Ti)?$/.exec(String(text)) ?? [];
  if (digits === undefined) throw new Error(`The quantity ${text} is invalid.`);
  return Number(digits) * (suffix ? SUFFIXES[suffix] : 1);
}

const amounts = (resources) =>
  Object.fromEntries(Object.entries(resources).map(([name, text]) => [name, quantity(text)]));

/** What a pod requests, as the scheduler counts it. */
function requestsOf({ spec }) {
  const total = { pods: 1 };
  for (const { resources } of spec.containers) {
    for (const [name, amount] of Object.entries(amounts(resources?.requests ?? {})))
      total[name] = (total[name] ?? 0) + amount;
  }
  for (const { resources } of spec.initContainers ?? []) {
    for (const [name, amount] of Object.entries(amounts(resources?.requests ?? {}))) {
      total[name] = Math.max(total[name] ?? 0, amount);
    }
  }
  return total;
}

const isUnschedulable = ({ spec, status, metadata }) =>
  !spec.nodeName &&
  !metadata.deletionTimestamp &&
  (status.conditions ?? []).some(({ type, reason }) => type === 'PodScheduled' && reason === 'Unschedulable');

const isActive = ({ status }) => !['Succeeded', 'Failed'].includes(status.phase);
const fits = (free, requests) => Object.entries(requests).every(([name, amount]) => (free[name] ?? 0) >= amount);
const take = (free, requests) => {
  for (const [name, amount] of Object.entries(requests)) free[name] -= amount;
};
const selects = (spec, labels) =>
  Object.entries(spec.nodeSelector ?? {}).every(([key, value]) => labels[key] === value);

const tolerates = ({ tolerations = [] }, taint) =>
  tolerations.some(
    ({ key, operator = 'Equal', value = '', effect }) =>
      (key === undefined || key === taint.key) &&
      (operator === 'Exists' || value === taint.value) &&
      (effect === undefined || effect === taint.effect),
  );

/** Whether a pod can be assigned to nodes with these labels and taints. */
const accepts = ({ spec }, { labels, taints }) =>
  selects(spec, labels) && taints.every((taint) => tolerates(spec, taint));

/**
 * The pods for which a pool must grow, in groups: one group for each new node. A pod that fits a node that is already there needs none, also if
 * the scheduler has not yet assigned it. A pod that no empty node of the pool can take is ignored.
 *
 * @param pool `capacity` (quantities by resource), `labels` and `taints` of its nodes, and `max`, the largest number of nodes
 * @param nodes the nodes of the pool
 * @param pods all pods of the cluster
 */
export function podsForNewNodes(pool, nodes, pods) {
  const empty = () => amounts({ pods: '110', ...pool.capacity });
  const free = nodes.map(({ metadata, status }) => {
    const left = amounts(status.allocatable);
    for (const pod of pods) if (pod.spec.nodeName === metadata.name && isActive(pod)) take(left, requestsOf(pod));
    return left;
  });
  const groups = [];
  for (const pod of pods.filter((each) => isUnschedulable(each) && accepts(each, pool))) {
    const requests = requestsOf(pod);
    const index = free.findIndex((each) => fits(each, requests));
    if (index >= 0) {
      take(free[index], requests);
      groups[index - nodes.length]?.push(pod);
    } else if (fits(empty(), requests) && free.length < pool.max) {
      free.push(empty());
      take(free.at(-1), requests);
      groups.push([pod]);
    }
  }
  return groups;
}

/** The names of the nodes of the pool that run no pod. */
export const emptyNodes = (nodes, pods) =>
  nodes
    .map(({ metadata }) => metadata.name)
    .filter((name) => !pods.some((pod) => pod.spec.nodeName === name && isActive(pod)));

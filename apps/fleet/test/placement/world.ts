import { type WorkloadSpec, workloadDefaults } from '@svc/contract/fleet';
import type { ClusterCandidate, ClusterNode, Gpu, HostCandidate } from '../../src/placement/candidates.ts';
import { type Judged, place } from '../../src/placement/place.ts';
import type { Demand, Wish } from '../../src/placement/requirements.ts';

export const GiB = 1024 ** 3;

/** A workload as its template says it, nothing said unless given. */
export const aSpec = (given: Partial<WorkloadSpec> = {}): WorkloadSpec => ({ ...workloadDefaults, ...given });

/** One replica that asks for nothing. */
export const aWish = ({ asks = {}, ...given }: Partial<Wish> & { asks?: Partial<Demand> } = {}): Wish => ({
  replicas: 1,
  per_replica: { cpu_millis: 0, memory_bytes: 0, gpu_count: 0, vram_bytes: 0, ...asks },
  required_network_types: [],
  node_selector: {},
  tolerations: [],
  volumes: [],
  ...given,
});

/** GPUs `a`, `b`, ... with so many GiB each. */
export const gpus = (...sizes: number[]): Gpu[] =>
  sizes.map((size, index) => ({ id: String.fromCharCode(97 + index), model: 'L4', vram_bytes: size * GiB }));

/** A host with 8 CPUs and 16 GiB that nobody uses, and no GPU. */
export const aHost = (given: Partial<HostCandidate> = {}): HostCandidate => ({
  kind: 'host',
  id: `id-of-${given.name ?? 'host'}`,
  name: 'host',
  labels: {},
  taints: [],
  schedulable: true,
  reachability: 'online',
  network_types: [],
  capacity: { cpu_millis: 8000, memory_bytes: 16 * GiB },
  gpus: [],
  allocated: { cpu_millis: 0, memory_bytes: 0, gpus: [] },
  ...given,
});

/** A node with 4 CPUs and 8 GiB, and no GPU. */
export const aNode = (given: Partial<ClusterNode> = {}): ClusterNode => ({
  name: 'node',
  labels: {},
  taints: [],
  schedulable: true,
  allocatable: { cpu_millis: 4000, memory_bytes: 8 * GiB, gpu_count: 0 },
  ...given,
});

/** A cluster with 8 CPUs and 16 GiB that nobody uses; its nodes are not known. */
export const aCluster = (given: Partial<ClusterCandidate> = {}): ClusterCandidate => ({
  kind: 'cluster',
  id: `id-of-${given.name ?? 'cluster'}`,
  name: 'cluster',
  reachability: 'online',
  network_types: [],
  allocatable: { cpu_millis: 8000, memory_bytes: 16 * GiB, gpu_count: 0 },
  allocated: { cpu_millis: 0, memory_bytes: 0, gpu_count: 0 },
  nodes: [],
  ...given,
});

/** What is said of the only candidate. */
export function judged(wish: Wish, candidate: HostCandidate | ClusterCandidate): Judged {
  const [only] = place(wish, [candidate]).judged;
  if (!only) throw new Error('a candidate was not judged');
  return only;
}

/** Everything that speaks against the only candidate; nothing where it fits. */
export function against(wish: Wish, candidate: HostCandidate | ClusterCandidate): readonly string[] {
  const { fits, reasons } = judged(wish, candidate);
  return fits ? [] : reasons;
}

import { type WorkloadSpec, workloadDefaults } from '@svc/contract/fleet';
import type {
  ClusterCandidate,
  ClusterNode,
  Gpu,
  HostCandidate,
  PlacementRequest,
  Requirements,
} from '../../src/placement/candidates.ts';
import { type CandidateAssessment, place } from '../../src/placement/place.ts';

export const GiB = 1024 ** 3;

/** The specification of a workload with defaults. */
export const aSpec = (given: Partial<WorkloadSpec> = {}): WorkloadSpec => ({ ...workloadDefaults, ...given });

/** A request for one replica without requirements. */
export const aRequest = ({
  asks = {},
  ...given
}: Partial<PlacementRequest> & { asks?: Partial<Requirements> } = {}): PlacementRequest => ({
  replicas: 1,
  per_replica: { cpu_millis: 0, memory_bytes: 0, gpu_count: 0, vram_bytes: 0, ...asks },
  required_network_types: [],
  has_ports: false,
  node_selector: {},
  tolerations: [],
  volumes: [],
  scaling: 'fleet',
  ...given,
});

/** GPUs `a`, `b`, ... with the given sizes in GiB. */
export const gpus = (...sizes: number[]): Gpu[] =>
  sizes.map((size, index) => ({ id: String.fromCharCode(97 + index), model: 'L4', vram_bytes: size * GiB }));

/** A host with 8 CPUs and 16 GiB of memory, all of it available, and no GPU. */
export const aHost = (given: Partial<HostCandidate> = {}): HostCandidate => ({
  kind: 'host',
  engine: 'docker',
  engine_version: '28.0.0',
  id: `id-of-${given.name ?? 'host'}`,
  name: 'host',
  labels: {},
  taints: [],
  schedulable: true,
  reachability: 'online',
  network_types: [],
  addresses: {},
  capacity: { cpu_millis: 8000, memory_bytes: 16 * GiB },
  gpus: [],
  allocated: { cpu_millis: 0, memory_bytes: 0, gpus: [] },
  ...given,
});

/** A node with 4 CPUs and 8 GiB of memory, and no GPU. */
export const aNode = (given: Partial<ClusterNode> = {}): ClusterNode => ({
  name: 'node',
  labels: {},
  taints: [],
  schedulable: true,
  allocatable: { cpu_millis: 4000, memory_bytes: 8 * GiB, gpu_count: 0 },
  ...given,
});

/** A cluster with 8 CPUs and 16 GiB of memory, all of it available, and unknown nodes. */
export const aCluster = (given: Partial<ClusterCandidate> = {}): ClusterCandidate => ({
  kind: 'cluster',
  id: `id-of-${given.name ?? 'cluster'}`,
  name: 'cluster',
  reachability: 'online',
  network_types: [],
  allocatable: { cpu_millis: 8000, memory_bytes: 16 * GiB, gpu_count: 0 },
  allocated: { cpu_millis: 0, memory_bytes: 0, gpu_count: 0 },
  nodes: [],
  missing_permissions: [],
  ...given,
});

/** The assessment of the only candidate. */
export function assess(request: PlacementRequest, candidate: HostCandidate | ClusterCandidate): CandidateAssessment {
  const [only] = place(request, [candidate]).assessments;
  if (!only) throw new Error('the candidate was not assessed');
  return only;
}

/** The reasons against the only candidate. The list is empty if it fits. */
export function against(request: PlacementRequest, candidate: HostCandidate | ClusterCandidate): readonly string[] {
  const { fits, reasons } = assess(request, candidate);
  return fits ? [] : reasons;
}

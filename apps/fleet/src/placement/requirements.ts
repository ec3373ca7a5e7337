import type { WorkloadSpec } from '@svc/contract/fleet';
import { bytes, milli } from '../quantities.ts';
import type { CountedAmounts, TargetRef } from './candidates.ts';

/** The requirements of one replica; 0 means no requirement. `vram_bytes` is the minimum memory of each GPU. */
export interface Requirements extends CountedAmounts {
  readonly vram_bytes: number;
}

/** A Kubernetes toleration. */
export type Toleration = WorkloadSpec['tolerations'][number];

/** The requirements of a workload for its target. */
export interface PlacementRequirements {
  readonly replicas: number;
  readonly per_replica: Requirements;
  readonly required_network_types: readonly string[];
  readonly node_selector: Readonly<Record<string, string>>;
  readonly tolerations: readonly Toleration[];
}

/**
 * A volume of the deployment, with the target to which it is bound, and the name of another deployment that has it
 * attached.
 */
export interface RequestedVolume {
  readonly name: string;
  readonly access_mode: 'ReadWriteOnce' | 'ReadWriteMany' | 'ReadOnlyMany';
  readonly boundTo?: TargetRef | undefined;
  readonly attached_to?: string | undefined;
}

/** A request for placement. With `target`, only that target is considered. */
export interface PlacementRequest extends PlacementRequirements {
  readonly volumes: readonly RequestedVolume[];
  readonly target?: TargetRef | undefined;
}

/** The number of GPUs of one replica. A request for GPU memory without a number of GPUs is a request for one GPU. */
export const gpuCountOf = ({ gpu_count, vram_request }: Pick<WorkloadSpec, 'gpu_count' | 'vram_request'>): number =>
  gpu_count === 0 && bytes(vram_request) > 0 ? 1 : gpu_count;

/** The requirements of one replica of a workload. */
export function requirementsOf(spec: WorkloadSpec): Requirements {
  return {
    cpu_millis: milli(spec.cpu_request),
    memory_bytes: bytes(spec.memory_request),
    gpu_count: gpuCountOf(spec),
    vram_bytes: bytes(spec.vram_request),
  };
}

/** The requirements of a workload with a number of replicas for its target. */
export const placementRequirementsOf = (spec: WorkloadSpec, replicas: number): PlacementRequirements => ({
  replicas,
  per_replica: requirementsOf(spec),
  required_network_types: spec.required_network_types,
  node_selector: spec.node_selector,
  tolerations: spec.tolerations,
});

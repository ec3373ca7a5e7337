import type { WorkloadSpec } from '@svc/contract/fleet';
import { bytes, milli } from '../quantities.ts';
import type { CountedAmounts, TargetRef } from './candidates.ts';

/** What one replica asks for: 0 asks for nothing. `vram_bytes` is the memory that each of its GPUs must have. */
export interface Demand extends CountedAmounts {
  readonly vram_bytes: number;
}

/** A Kubernetes toleration. */
export type Toleration = WorkloadSpec['tolerations'][number];

/** What a workload asks of the place where it runs. */
export interface Needs {
  readonly replicas: number;
  readonly per_replica: Demand;
  readonly required_network_types: readonly string[];
  readonly node_selector: Readonly<Record<string, string>>;
  readonly tolerations: readonly Toleration[];
}

/** A volume of the deployment: where it already lives, and which other deployment has it attached. */
export interface WishedVolume {
  readonly name: string;
  readonly access_mode: 'ReadWriteOnce' | 'ReadWriteMany' | 'ReadOnlyMany';
  readonly boundTo?: TargetRef | undefined;
  readonly attached_to?: string | undefined;
}

/** A deployment that looks for a place; with a `target` it is that one or none. */
export interface Wish extends Needs {
  readonly volumes: readonly WishedVolume[];
  readonly target?: TargetRef | undefined;
}

/** GPUs of one replica. GPU memory without a number of GPUs asks for one GPU that has it. */
export const gpuCountOf = ({ gpu_count, vram_request }: Pick<WorkloadSpec, 'gpu_count' | 'vram_request'>): number =>
  gpu_count === 0 && bytes(vram_request) > 0 ? 1 : gpu_count;

/** What one replica of a workload asks for. */
export function demandOf(spec: WorkloadSpec): Demand {
  return {
    cpu_millis: milli(spec.cpu_request),
    memory_bytes: bytes(spec.memory_request),
    gpu_count: gpuCountOf(spec),
    vram_bytes: bytes(spec.vram_request),
  };
}

/** What a workload with this many replicas asks of the place where it runs. */
export const needsOf = (spec: WorkloadSpec, replicas: number): Needs => ({
  replicas,
  per_replica: demandOf(spec),
  required_network_types: spec.required_network_types,
  node_selector: spec.node_selector,
  tolerations: spec.tolerations,
});

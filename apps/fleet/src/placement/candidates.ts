/** The kind of a target. */
export type TargetKind = 'host' | 'cluster';

/** A reference to a host or cluster by its id. */
export interface TargetRef {
  readonly kind: TargetKind;
  readonly id: string;
}

/** A Kubernetes taint. Hosts have them as well. */
export interface Taint {
  readonly key: string;
  readonly value?: string | undefined;
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
}

/** `unknown`: not checked yet. */
export type Reachability = 'unknown' | 'online' | 'unreachable';

/** CPU in thousandths of a CPU, and memory in bytes. */
interface Amounts {
  readonly cpu_millis: number;
  readonly memory_bytes: number;
}

/** CPU, memory and a number of GPUs, without their ids. */
export interface CountedAmounts extends Amounts {
  readonly gpu_count: number;
}

/** One GPU of a host; its id is unique on the host. */
export interface Gpu {
  readonly id: string;
  readonly model: string;
  readonly vram_bytes: number;
}

/** The properties of a host or node that decide which workloads it admits. */
export interface Machine {
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly schedulable: boolean;
}

interface Target extends TargetRef {
  readonly name: string;
  readonly reachability: Reachability;
  readonly network_types: readonly string[];
}

/** A host, which runs all replicas of a deployment. `capacity` is null until the first check succeeds. */
export interface HostCandidate extends Target, Machine {
  readonly kind: 'host';
  readonly capacity: Amounts | null;
  readonly gpus: readonly Gpu[];
  readonly allocated: Amounts & { readonly gpus: readonly string[] };
}

/** A node of a cluster. Without `vram_bytes`, the memory of its GPUs is not known. */
export interface ClusterNode extends Machine {
  readonly name: string;
  readonly allocatable: CountedAmounts;
  readonly vram_bytes?: number | undefined;
}

/**
 * A cluster, which distributes replicas among its nodes. Until they are known, `allocatable` is null and `nodes` is
 * empty.
 */
export interface ClusterCandidate extends Target {
  readonly kind: 'cluster';
  readonly allocatable: CountedAmounts | null;
  readonly allocated: CountedAmounts;
  readonly nodes: readonly ClusterNode[];
}

/** A host or cluster that placement considers. */
export type Candidate = HostCandidate | ClusterCandidate;

/** One of the two kinds of place where a deployment runs. */
export type TargetKind = 'host' | 'cluster';

/** A cluster or a host, by its id. */
export interface TargetRef {
  readonly kind: TargetKind;
  readonly id: string;
}

/** What keeps things away from a machine, as Kubernetes has it. */
export interface Taint {
  readonly key: string;
  readonly value?: string | undefined;
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
}

/** `unknown`: never checked yet. */
export type Reachability = 'unknown' | 'online' | 'unreachable';

/** CPU in thousandths, and memory. */
interface Amounts {
  readonly cpu_millis: number;
  readonly memory_bytes: number;
}

/** CPU, memory and GPUs that are counted, not named. */
export interface CountedAmounts extends Amounts {
  readonly gpu_count: number;
}

/** One GPU of a host; its id is unique on the host. */
export interface Gpu {
  readonly id: string;
  readonly model: string;
  readonly vram_bytes: number;
}

/** What admits or keeps away what wants to run on one machine. */
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

/** A single machine, all replicas on it; `capacity` is null until it was checked. */
export interface HostCandidate extends Target, Machine {
  readonly kind: 'host';
  readonly capacity: Amounts | null;
  readonly gpus: readonly Gpu[];
  readonly allocated: Amounts & { readonly gpus: readonly string[] };
}

/** A node of a cluster; without `vram_bytes` nobody knows how much memory each of its GPUs has. */
export interface ClusterNode extends Machine {
  readonly name: string;
  readonly allocatable: CountedAmounts;
  readonly vram_bytes?: number | undefined;
}

/** A cluster, which spreads replicas over its nodes; `allocatable` is null, and `nodes` empty, until they are known. */
export interface ClusterCandidate extends Target {
  readonly kind: 'cluster';
  readonly allocatable: CountedAmounts | null;
  readonly allocated: CountedAmounts;
  readonly nodes: readonly ClusterNode[];
}

/** Where something may be placed. */
export type Candidate = HostCandidate | ClusterCandidate;

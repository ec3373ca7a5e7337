import type { WorkloadSpec } from '@svc/contract/fleet';
import type { AddressesByType } from './addresses.ts';
import { bytes, milli } from './quantities.ts';

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
  /** The name of the target that is the same engine and was registered first. */
  readonly duplicate_of?: string | undefined;
}

/**
 * A host, which runs all replicas of a deployment. `capacity` is null until the first check
 * succeeds.
 */
export interface HostCandidate extends Target, Machine {
  readonly kind: 'host';
  readonly engine: 'docker' | 'podman';
  /** Null until the first check succeeds. */
  readonly engine_version: string | null;
  readonly addresses: AddressesByType;
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

/** The limits of a cluster that adds nodes when pods need them. */
export interface ElasticLimits {
  /** The number of nodes that the cluster can have, with the present ones. */
  readonly max_nodes: number;
  /** The largest replica: the amounts that pods can request of the largest node while it is empty. */
  readonly per_replica: CountedAmounts;
  /** The number of GPUs of each model that the cluster can have, with the present ones. */
  readonly gpus: readonly { readonly model: string; readonly vram_bytes: number; readonly count: number }[];
}

/**
 * A cluster, which distributes replicas among its nodes. Until they are known, `allocatable` is
 * null and `nodes` is empty. Undefined limits: it has the nodes that exist.
 */
export interface ClusterCandidate extends Target {
  readonly kind: 'cluster';
  readonly allocatable: CountedAmounts | null;
  readonly allocated: CountedAmounts;
  readonly nodes: readonly ClusterNode[];
  /** Whether an admin allows that pods receive tokens of their account. */
  readonly gives_tokens?: boolean;
  /** Optional permissions that the fleet lacks, such as `create horizontalpodautoscalers`. */
  readonly missing_permissions: readonly string[];
  readonly elastic?: ElasticLimits | undefined;
}

/** A host or cluster that placement considers. */
export type Candidate = HostCandidate | ClusterCandidate;

/**
 * The requirements of one replica; 0 means no requirement. `vram_bytes` is the minimum memory of
 * each GPU.
 */
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
  /** Whether the program needs a token for the API of its cluster. */
  readonly needs_token?: true;
}

/**
 * A volume of the deployment, with its mount, the target to which it is bound, and the name of
 * another deployment that has it attached.
 */
export interface RequestedVolume {
  readonly mount: string;
  readonly name: string;
  readonly access_mode: 'ReadWriteOnce' | 'ReadWriteMany' | 'ReadOnlyMany';
  readonly boundTo?: TargetRef | undefined;
  readonly attached_to?: string | undefined;
}

/** The address of the first instance in an isolated network, and the port of the container. */
interface NetworkPlace {
  readonly id: string;
  readonly address: string;
  readonly port: number;
}

/** A port of a deployment on its target. */
export type ProvidedPort =
  | {
      readonly kind: 'host';
      readonly id: string;
      readonly name: string;
      readonly port: number;
      /** The addresses to which it binds, with their network types, the preferred one first. Other machines reach no others. */
      readonly addresses: readonly { readonly type: string; readonly address: string }[];
      /** Its place in an isolated network of the host, for programs that are in such networks as well. */
      readonly network?: NetworkPlace | undefined;
    }
  | {
      readonly kind: 'cluster';
      readonly id: string;
      readonly name: string;
      readonly port: number;
      /** The DNS name of its Service, which only pods of the cluster resolve. */
      readonly service: string;
    };

/** A port of another deployment to which a program connects. */
export interface NeededPort {
  readonly deployment: string;
  /** The port of the container. */
  readonly port: number;
  readonly provided: ProvidedPort;
}

/** A request for placement. With `target`, only that target is considered. */
export interface PlacementRequest extends PlacementRequirements {
  readonly volumes: readonly RequestedVolume[];
  /** The ports of other deployments to which the program connects. Default: none. */
  readonly needed_ports?: readonly NeededPort[];
  readonly has_ports: boolean;
  /** Who sets the number of replicas: the fleet, programs of the cluster, or an autoscaler of the fleet. */
  readonly scaling: 'fleet' | 'cluster' | 'autoscaling';
  readonly target?: TargetRef | undefined;
}

/** Names of architectures that engines report, by the names that Kubernetes uses. */
const ARCHITECTURES: ReadonlyMap<string, string> = new Map([
  ['x86_64', 'amd64'],
  ['aarch64', 'arm64'],
]);

/**
 * The labels that a host has because its engine reports them. A declared label with the same key
 * replaces one.
 */
export const observedLabels = (arch: string | null): Readonly<Record<string, string>> =>
  arch ? { 'kubernetes.io/arch': ARCHITECTURES.get(arch) ?? arch } : {};

/**
 * The number of GPUs of one replica. A request for GPU memory without a number of GPUs is a request
 * for one GPU.
 */
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
  ...(spec.service_account_token && { needs_token: true as const }),
});

import type { V1Node, V1StorageClass } from '@kubernetes/client-node';
import type { CountedAmounts, Taint } from '../../placement/candidates.ts';
import { bytes, milli } from '../../placement/quantity.ts';
import type { Client } from './cluster-client.ts';
import { type Condition, conditionsOf } from './conditions.ts';
import { isForbidden } from './refused.ts';

/** A machine of a cluster. */
export interface NodeFacts {
  readonly name: string;
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly schedulable: boolean;
  readonly ready: boolean;
  /** Of its kubelet. */
  readonly version: string;
  readonly arch: string;
  readonly capacity: CountedAmounts;
  /** What pods may have of it. */
  readonly allocatable: CountedAmounts;
}

/** What a cluster says of itself. */
export interface ClusterFacts {
  readonly version: string;
  /** By name; none where the credentials may not list them. */
  readonly nodes: readonly NodeFacts[];
  readonly storage_classes: readonly { readonly name: string; readonly is_default: boolean }[];
  readonly conditions: readonly Condition[];
}

/** Asks a cluster who it is, what it has, and what we may do in it. @throws Unreachable, and AuthFailed for a stranger */
export async function check(client: Client): Promise<ClusterFacts> {
  const { version } = await client.apis();
  const { gitVersion } = await version.getCode();
  const nodes = await unlessForbidden(() => allNodes(client));
  const classes = await unlessForbidden(() => allClasses(client));
  return {
    version: gitVersion,
    nodes: (nodes ?? []).map((node) => factsOf(node, client.address.gpu_resource_name)).sort(byName),
    storage_classes: (classes ?? []).map(storageClass).sort(byName),
    conditions: await conditionsOf(client, {
      areNodesKnown: nodes !== undefined,
      areClassesKnown: classes !== undefined,
    }),
  };
}

const byName = (a: { readonly name: string }, b: { readonly name: string }) => (a.name < b.name ? -1 : 1);

/** What is asked for; undefined for what the credentials don't let us see. */
async function unlessForbidden<T>(asking: () => Promise<T>): Promise<T | undefined> {
  try {
    return await asking();
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}

const AT_ONCE = 250;

async function allNodes(client: Client, from?: string): Promise<V1Node[]> {
  const { core } = await client.apis();
  const { items, metadata } = await core.listNode({ limit: AT_ONCE, ...(from && { _continue: from }) });
  return [...(items ?? []), ...(metadata?._continue ? await allNodes(client, metadata._continue) : [])];
}

async function allClasses(client: Client): Promise<V1StorageClass[]> {
  const { storage } = await client.apis();
  return (await storage.listStorageClass({ limit: AT_ONCE })).items ?? [];
}

const DEFAULT = 'storageclass.kubernetes.io/is-default-class';

const storageClass = ({ metadata }: V1StorageClass) => ({
  name: metadata?.name ?? '',
  is_default: metadata?.annotations?.[DEFAULT] === 'true',
});

function factsOf({ metadata, spec, status }: V1Node, gpuResource: string): NodeFacts {
  const amounts = (said: Readonly<Record<string, string>> = {}): CountedAmounts => ({
    cpu_millis: milli(said.cpu ?? ''),
    memory_bytes: bytes(said.memory ?? ''),
    gpu_count: bytes(said[gpuResource] ?? ''),
  });
  return {
    name: metadata?.name ?? '',
    uid: metadata?.uid ?? '',
    labels: metadata?.labels ?? {},
    taints: (spec?.taints ?? []).map(({ key, value, effect }) => ({ key, value, effect: effect as Taint['effect'] })),
    schedulable: spec?.unschedulable !== true,
    ready: status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true,
    version: status?.nodeInfo?.kubeletVersion ?? '',
    arch: status?.nodeInfo?.architecture ?? '',
    capacity: amounts(status?.capacity),
    allocatable: amounts(status?.allocatable),
  };
}

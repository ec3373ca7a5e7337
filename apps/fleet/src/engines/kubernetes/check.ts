import type { V1Node, V1StorageClass } from '@kubernetes/client-node';
import type { CountedAmounts, Taint } from '../../placement/candidates.ts';
import { bytes, milli } from '../../quantities.ts';
import { eachOf } from '../concurrency.ts';
import { unlessGone } from '../errors.ts';
import type { KubernetesClient } from './client.ts';
import { isForbidden } from './errors.ts';

/** Something that is so with a cluster, or is not. */
interface Condition {
  readonly type: 'NamespaceReady' | 'Permitted' | 'NodesKnown' | 'StorageClassesKnown';
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  /** When it was found, by our clock. */
  readonly at: string;
}

type Finding = Omit<Condition, 'at'>;

/** What the driver does, by the group and name of what it does it with; all of it in the namespace of the fleet. */
const NEEDED: readonly (readonly [group: string, resource: string, verbs: readonly string[]])[] = [
  ['apps', 'deployments', ['list', 'watch', 'get', 'create', 'patch', 'delete']],
  ['batch', 'jobs', ['list', 'watch', 'get', 'create', 'patch', 'delete']],
  ['', 'services', ['list', 'get', 'create', 'patch', 'delete']],
  ['', 'secrets', ['list', 'get', 'create', 'patch', 'delete']],
  ['', 'persistentvolumeclaims', ['list', 'get', 'create', 'patch', 'delete']],
  ['apps', 'replicasets', ['list']],
  ['', 'pods', ['list', 'watch']],
  ['', 'pods/log', ['get']],
  ['', 'events', ['list']],
];

interface Known {
  readonly areNodesKnown: boolean;
  readonly areClassesKnown: boolean;
}

/** How it stands with what the driver needs of a cluster. */
async function conditionsOf(client: KubernetesClient, { areNodesKnown, areClassesKnown }: Known): Promise<Condition[]> {
  const findings = [
    await namespaceReady(client),
    await permitted(client),
    known('NodesKnown', areNodesKnown, 'nodes'),
    known('StorageClassesKnown', areClassesKnown, 'storage classes'),
  ];
  const at = new Date().toISOString();
  return findings.map((finding) => ({ ...finding, at }));
}

const known = (type: Finding['type'], isKnown: boolean, what: string): Finding => {
  const message = `The credentials that were given may not list the ${what} of the cluster.`;
  return isKnown
    ? { type, status: 'True', reason: 'Listed', message: '' }
    : { type, status: 'False', reason: 'Forbidden', message };
};

async function namespaceReady(client: KubernetesClient): Promise<Finding> {
  const { namespace } = client.address;
  const { core } = await client.apis();
  const type = 'NamespaceReady';
  if (!(await isAllowed(client, { verb: 'get', resource: 'namespaces', namespace, name: namespace }))) {
    return {
      type,
      status: 'Unknown',
      reason: 'Forbidden',
      message: `Whether there is a namespace ${namespace} is not shown.`,
    };
  }
  const found = await unlessGone(core.readNamespace({ name: namespace }));
  if (found?.status?.phase === 'Terminating' || found?.metadata?.deletionTimestamp) {
    return { type, status: 'False', reason: 'Terminating', message: `The namespace ${namespace} is being deleted.` };
  }
  if (found) return { type, status: 'True', reason: 'Active', message: '' };
  return (await isAllowed(client, { verb: 'create', resource: 'namespaces' }))
    ? {
        type,
        status: 'True',
        reason: 'Missing',
        message: `The namespace ${namespace} is made with the first deployment.`,
      }
    : {
        type,
        status: 'False',
        reason: 'Missing',
        message: `There is no namespace ${namespace}, and it may not be made.`,
      };
}

async function permitted(client: KubernetesClient): Promise<Finding> {
  const { namespace } = client.address;
  const needed = NEEDED.flatMap(([group, resource, verbs]) =>
    verbs.map((verb) => ({ group, resource, verb, namespace })),
  );
  const missing = await eachOf(needed, async (it) =>
    (await isAllowed(client, it)) ? [] : [`${it.verb} ${it.resource}`],
  );
  const lacks = missing.flat();
  if (lacks.length === 0) return { type: 'Permitted', status: 'True', reason: 'Allowed', message: '' };
  const message = `The credentials that were given may not, in the namespace ${namespace}: ${lacks.join(', ')}.`;
  return { type: 'Permitted', status: 'False', reason: 'Forbidden', message };
}

interface Act {
  readonly verb: string;
  /** With what is below it: `pods/log`. */
  readonly resource: string;
  readonly group?: string;
  readonly namespace?: string;
  /** The one object that it is about. */
  readonly name?: string;
}

async function isAllowed(
  client: KubernetesClient,
  { verb, resource: path, group = '', namespace, name }: Act,
): Promise<boolean> {
  const { authorization } = await client.apis();
  const [resource = '', subresource] = path.split('/');
  const resourceAttributes = {
    verb,
    group,
    resource,
    ...(subresource && { subresource }),
    ...(namespace && { namespace }),
    ...(name && { name }),
  };
  const { status } = await authorization.createSelfSubjectAccessReview({ body: { spec: { resourceAttributes } } });
  return status?.allowed === true;
}

/** A machine of a cluster. */
interface NodeFacts {
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
export async function check(client: KubernetesClient): Promise<ClusterFacts> {
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

async function allNodes(client: KubernetesClient, from?: string): Promise<V1Node[]> {
  const { core } = await client.apis();
  const { items, metadata } = await core.listNode({ limit: AT_ONCE, ...(from && { _continue: from }) });
  return [...(items ?? []), ...(metadata?._continue ? await allNodes(client, metadata._continue) : [])];
}

async function allClasses(client: KubernetesClient): Promise<V1StorageClass[]> {
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

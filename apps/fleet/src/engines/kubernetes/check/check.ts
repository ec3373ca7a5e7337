import type { V1Node, V1StorageClass } from '@kubernetes/client-node';
import type { CountedAmounts, Taint } from '../../../placement/candidates.ts';
import { bytes, milli } from '../../../placement/quantities.ts';
import type { DisruptionBudgets } from '../../../render/disruption.ts';
import { mapConcurrently } from '../../concurrency.ts';
import { unlessNotFound } from '../../errors.ts';
import type { KubernetesClient } from '../client.ts';
import { unlessForbidden } from '../errors.ts';
import { readFleetAccount } from './account.ts';
import { expiryOf } from './expiry.ts';
import { budgetsOf, type Condition, type Finding, isAllowed, isolationOf } from './permissions.ts';

/** Permissions in the namespace of the fleet, by API group and resource. */
type Permissions = readonly (readonly [group: string, resource: string, verbs: readonly string[]])[];

/** The permissions that the driver needs. */
const REQUIRED_PERMISSIONS: Permissions = [
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

/** The permissions that only deployments with autoscaling need. The roles of earlier versions lack them. */
const AUTOSCALING_PERMISSIONS: Permissions = [
  ['autoscaling', 'horizontalpodautoscalers', ['list', 'get', 'create', 'patch', 'delete']],
];

interface Known {
  readonly areNodesKnown: boolean;
  readonly areClassesKnown: boolean;
  readonly identity: string | null;
  /** The permissions for autoscaling that are missing. */
  readonly missing: readonly string[];
  readonly ofBudgets: Finding;
  readonly ofIsolation: Finding;
}

/** The conditions for what the driver needs of a cluster. */
async function conditionsOf(
  client: KubernetesClient,
  { areNodesKnown, areClassesKnown, identity, missing, ofBudgets, ofIsolation }: Known,
): Promise<Condition[]> {
  const findings = [
    await namespaceCondition(client),
    await permissionCondition(client),
    autoscalingCondition(client, missing),
    listableCondition('NodesKnown', areNodesKnown, 'nodes'),
    listableCondition('StorageClassesKnown', areClassesKnown, 'storage classes'),
    identityCondition(identity),
    ofBudgets,
    ofIsolation,
  ];
  const at = new Date().toISOString();
  return findings.map((finding) => ({ ...finding, at }));
}

const listableCondition = (type: Finding['type'], isKnown: boolean, what: string): Finding => {
  const message = `The credentials lack permission to list the ${what} of the cluster.`;
  return isKnown
    ? { type, status: 'True', reason: 'Listed', message: '' }
    : { type, status: 'False', reason: 'Forbidden', message };
};

const identityCondition = (identity: string | null): Finding => {
  const type = 'IdentityKnown';
  const message =
    'The credentials lack permission to get the namespace kube-system, whose UID identifies the cluster. The fleet cannot detect that the cluster is registered twice.';
  return identity === null
    ? { type, status: 'False', reason: 'Forbidden', message }
    : { type, status: 'True', reason: 'Read', message: '' };
};

async function namespaceCondition(client: KubernetesClient): Promise<Finding> {
  const { namespace } = client.address;
  const { core } = await client.apis();
  const type = 'NamespaceReady';
  if (!(await isAllowed(client, { verb: 'get', resource: 'namespaces', namespace, name: namespace }))) {
    return {
      type,
      status: 'Unknown',
      reason: 'Forbidden',
      message: `The credentials lack permission to read the namespace ${namespace}.`,
    };
  }
  const found = await unlessNotFound(core.readNamespace({ name: namespace }));
  if (found?.status?.phase === 'Terminating' || found?.metadata?.deletionTimestamp) {
    return { type, status: 'False', reason: 'Terminating', message: `The namespace ${namespace} is being deleted.` };
  }
  if (found) return { type, status: 'True', reason: 'Active', message: '' };
  return (await isAllowed(client, { verb: 'create', resource: 'namespaces' }))
    ? {
        type,
        status: 'True',
        reason: 'Missing',
        message: `The namespace ${namespace} is created with the first deployment.`,
      }
    : {
        type,
        status: 'False',
        reason: 'Missing',
        message: `The namespace ${namespace} does not exist, and the credentials lack permission to create it.`,
      };
}

/** The permissions that the credentials lack, such as `create deployments`. */
async function missingOf(client: KubernetesClient, permissions: Permissions): Promise<string[]> {
  const { namespace } = client.address;
  const required = permissions.flatMap(([group, resource, verbs]) =>
    verbs.map((verb) => ({ group, resource, verb, namespace })),
  );
  const missing = await mapConcurrently(required, async (access) =>
    (await isAllowed(client, access)) ? [] : [`${access.verb} ${access.resource}`],
  );
  return missing.flat();
}

/** Without these permissions, deployments with autoscaling are refused, and all others work. */
function autoscalingCondition(client: KubernetesClient, missing: readonly string[]): Finding {
  const type = 'AutoscalingPermitted';
  if (missing.length === 0) return { type, status: 'True', reason: 'Allowed', message: '' };
  const message = `Deployments with autoscaling are refused, because the credentials lack these permissions in the namespace ${client.address.namespace}: ${missing.join(', ')}.`;
  return { type, status: 'Unknown', reason: 'Forbidden', message };
}

async function permissionCondition(client: KubernetesClient): Promise<Finding> {
  const { namespace } = client.address;
  const missing = await missingOf(client, REQUIRED_PERMISSIONS);
  if (missing.length === 0) return { type: 'Permitted', status: 'True', reason: 'Allowed', message: '' };
  const message = `The credentials lack these permissions in the namespace ${namespace}: ${missing.join(', ')}.`;
  return { type: 'Permitted', status: 'False', reason: 'Forbidden', message };
}

/** A node of a cluster. */
interface NodeFacts {
  readonly name: string;
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly schedulable: boolean;
  readonly ready: boolean;
  /** Version of the kubelet. */
  readonly version: string;
  readonly arch: string;
  readonly capacity: CountedAmounts;
  /** The amounts that pods can request. */
  readonly allocatable: CountedAmounts;
}

/** The version, nodes, storage classes and conditions of a cluster. */
export interface ClusterFacts {
  readonly version: string;
  /** Sorted by name. Empty if the credentials do not permit listing nodes. */
  readonly nodes: readonly NodeFacts[];
  readonly storage_classes: readonly ReturnType<typeof storageClass>[];
  readonly conditions: readonly Condition[];
  /** Null: not known. */
  readonly identity: string | null;
  /** The user as which the cluster knows the fleet; null: not known. */
  readonly fleet_account: string | null;
  readonly disruption_budgets: DisruptionBudgets;
  /** Whether the credentials permit NetworkPolicies. */
  readonly network_policies: boolean;
  /** Optional permissions that the credentials lack. */
  readonly missing_permissions: readonly string[];
  readonly credentials_expire_at: Date | null;
}

/**
 * The identity of a cluster: the UID of its namespace `kube-system`, which exists as long as the
 * cluster.
 *
 * @returns null if the credentials do not permit reading it
 */
export async function readIdentity(client: KubernetesClient): Promise<string | null> {
  const { core } = await client.apis();
  const namespace = await unlessNotFound(unlessForbidden(core.readNamespace({ name: 'kube-system' })));
  return namespace?.metadata?.uid ?? null;
}

/**
 * Queries the version, resources and permissions in a cluster.
 *
 * @throws Unreachable, and Permanent with reason AuthFailed if the cluster rejects the credentials
 */
export async function check(client: KubernetesClient): Promise<ClusterFacts> {
  const { version } = await client.apis();
  const { gitVersion } = await version.getCode();
  const nodes = await unlessForbidden(allNodes(client));
  const classes = await unlessForbidden(allClasses(client));
  const identity = await readIdentity(client);
  const minor = minorOf(gitVersion);
  const budgets = await budgetsOf(client, minor);
  const isolation = await isolationOf(client);
  const missing = await missingOf(client, AUTOSCALING_PERMISSIONS);
  return {
    version: gitVersion,
    nodes: (nodes ?? []).map((node) => nodeFacts(node, client.address.gpu_resource_name)).sort(byName),
    storage_classes: (classes ?? []).map(storageClass).sort(byName),
    conditions: await conditionsOf(client, {
      areNodesKnown: nodes !== undefined,
      areClassesKnown: classes !== undefined,
      identity,
      missing,
      ofBudgets: budgets.finding,
      ofIsolation: isolation.finding,
    }),
    identity,
    missing_permissions: missing,
    credentials_expire_at: expiryOf(client.address.auth),
    fleet_account: await readFleetAccount(client, minor),
    disruption_budgets: budgets.supported,
    network_policies: isolation.isSupported,
  };
}

/** The minor version of Kubernetes 1, such as 33 of `v1.33.1`; 0 if it is not known. */
const minorOf = (version: string): number => Number(/^v?1\.(\d{1,4})/.exec(version)?.[1] ?? 0);

const byName = (a: { readonly name: string }, b: { readonly name: string }) => (a.name < b.name ? -1 : 1);

const PAGE_LIMIT = 250;

async function allNodes(client: KubernetesClient, from?: string): Promise<V1Node[]> {
  const { core } = await client.apis();
  const { items, metadata } = await core.listNode({ limit: PAGE_LIMIT, ...(from && { _continue: from }) });
  return [...(items ?? []), ...(metadata?._continue ? await allNodes(client, metadata._continue) : [])];
}

async function allClasses(client: KubernetesClient): Promise<V1StorageClass[]> {
  const { storage } = await client.apis();
  return (await storage.listStorageClass({ limit: PAGE_LIMIT })).items ?? [];
}

const DEFAULT = 'storageclass.kubernetes.io/is-default-class';

const storageClass = ({ metadata, allowVolumeExpansion }: V1StorageClass) => ({
  name: metadata?.name ?? '',
  is_default: metadata?.annotations?.[DEFAULT] === 'true',
  allows_expansion: allowVolumeExpansion === true,
});

function nodeFacts({ metadata, spec, status }: V1Node, gpuResource: string): NodeFacts {
  const amounts = (quantities: Readonly<Record<string, string>> = {}): CountedAmounts => ({
    cpu_millis: milli(quantities.cpu ?? ''),
    memory_bytes: bytes(quantities.memory ?? ''),
    gpu_count: bytes(quantities[gpuResource] ?? ''),
  });
  return {
    name: metadata?.name ?? '',
    uid: metadata?.uid ?? '',
    labels: metadata?.labels ?? {},
    // The API server accepts only these effects.
    taints: (spec?.taints ?? []).map(({ key, value, effect }) => ({ key, value, effect: effect as Taint['effect'] })),
    schedulable: spec?.unschedulable !== true,
    ready: status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true,
    version: status?.nodeInfo?.kubeletVersion ?? '',
    arch: status?.nodeInfo?.architecture ?? '',
    capacity: amounts(status?.capacity),
    allocatable: amounts(status?.allocatable),
  };
}

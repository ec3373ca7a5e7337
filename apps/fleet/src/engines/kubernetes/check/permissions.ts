import type { DisruptionBudgets } from '../../../render/disruption.ts';
import { mapConcurrently } from '../../concurrency.ts';
import { EngineFailure } from '../../errors.ts';
import type { KubernetesClient } from '../client.ts';

/** A condition of a cluster. */
export interface Condition {
  readonly type:
    | 'NamespaceReady'
    | 'Permitted'
    | 'AutoscalingPermitted'
    | 'NodesKnown'
    | 'StorageClassesKnown'
    | 'IdentityKnown'
    | 'DisruptionBudgets'
    | 'Isolated';
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  /** When the condition was observed, by the clock of the fleet. ISO 8601. */
  readonly at: string;
}

export type Finding = Omit<Condition, 'at'>;

interface ResourceAccess {
  readonly verb: string;
  /** With the subresource, if any: `pods/log`. */
  readonly resource: string;
  readonly group?: string;
  readonly namespace?: string;
  /** The name of a single object. */
  readonly name?: string;
}

export async function isAllowed(
  client: KubernetesClient,
  { verb, resource: path, group = '', namespace, name }: ResourceAccess,
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

/** The first minor versions of Kubernetes 1 with `policy/v1`, and with `unhealthyPodEvictionPolicy`. */
const HAS_BUDGETS = 21;
const KNOWS_UNHEALTHY = 27;

/** The permissions for objects of an optional kind, beside that to list them. */
const VERBS = ['get', 'create', 'patch', 'delete'];

interface Found {
  readonly supported: DisruptionBudgets;
  readonly finding: Finding;
}

/**
 * Which PodDisruptionBudgets the fleet can use. It does without them where the cluster does not have
 * or permit them, so the condition is never False.
 */
export async function budgetsOf(client: KubernetesClient, minor: number): Promise<Found> {
  if (minor < HAS_BUDGETS) return without('NotSupported', `The cluster has them from Kubernetes 1.${HAS_BUDGETS}.`);
  const { policy } = await client.apis();
  const { namespace } = client.address;
  const missing = await missingPermissions(client, {
    group: 'policy',
    resource: 'poddisruptionbudgets',
    list: () => policy.listNamespacedPodDisruptionBudget({ namespace, limit: 1 }),
  });
  if (missing.length > 0) {
    return without('Forbidden', `The credentials lack ${missing.join(', ')} in the namespace ${namespace}.`);
  }
  return {
    supported: minor < KNOWS_UNHEALTHY ? 'basic' : 'with_unhealthy',
    finding: { type: 'DisruptionBudgets', status: 'True', reason: 'Allowed', message: '' },
  };
}

const without = (reason: string, why: string): Found => ({
  supported: null,
  finding: {
    type: 'DisruptionBudgets',
    status: 'Unknown',
    reason,
    message: `Deployments have no PodDisruptionBudgets. ${why}`,
  },
});

interface OptionalKind {
  readonly group: string;
  readonly resource: string;
  readonly list: () => Promise<unknown>;
}

/** A list shows that the cluster has the API, and that the credentials permit it. */
async function missingPermissions(
  client: KubernetesClient,
  { group, resource, list }: OptionalKind,
): Promise<string[]> {
  const { namespace } = client.address;
  try {
    await list();
  } catch (error) {
    if (error instanceof EngineFailure) return [`list ${resource}`];
    throw error;
  }
  const missing = await mapConcurrently(VERBS, async (verb) =>
    (await isAllowed(client, { verb, group, resource, namespace })) ? [] : [`${verb} ${resource}`],
  );
  return missing.flat();
}

/**
 * Whether the fleet can isolate pods with NetworkPolicies. Without the permissions, deployments run, and their pods reach each
 * other. No API states whether the network of a cluster enforces policies.
 */
export async function isolationOf(client: KubernetesClient): Promise<{ isSupported: boolean; finding: Finding }> {
  const { networking } = await client.apis();
  const { namespace } = client.address;
  const missing = await missingPermissions(client, {
    group: 'networking.k8s.io',
    resource: 'networkpolicies',
    list: () => networking.listNamespacedNetworkPolicy({ namespace, limit: 1 }),
  });
  const type = 'Isolated';
  if (missing.length === 0) {
    const message =
      'Deployments have NetworkPolicies. They have an effect only if the network plug-in of the cluster enforces them, which the fleet cannot determine.';
    return { isSupported: true, finding: { type, status: 'True', reason: 'Allowed', message } };
  }
  const message = `Pods of different applications reach each other, because the credentials lack these permissions in the namespace ${namespace}: ${missing.join(', ')}.`;
  return { isSupported: false, finding: { type, status: 'False', reason: 'Forbidden', message } };
}

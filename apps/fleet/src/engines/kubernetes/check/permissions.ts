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
    | 'DisruptionBudgets';
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

const RESOURCE = 'poddisruptionbudgets';
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
  const missing = await missingPermissions(client);
  if (missing.length > 0) {
    const { namespace } = client.address;
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

/** A list shows that the cluster has the API, and that the credentials permit it. */
async function missingPermissions(client: KubernetesClient): Promise<string[]> {
  const { policy } = await client.apis();
  const { namespace } = client.address;
  try {
    await policy.listNamespacedPodDisruptionBudget({ namespace, limit: 1 });
  } catch (error) {
    if (error instanceof EngineFailure) return [`list ${RESOURCE}`];
    throw error;
  }
  const missing = await mapConcurrently(VERBS, async (verb) =>
    (await isAllowed(client, { verb, group: 'policy', resource: RESOURCE, namespace })) ? [] : [`${verb} ${RESOURCE}`],
  );
  return missing.flat();
}

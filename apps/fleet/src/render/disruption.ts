import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { objectName, selectorOf } from './labels.ts';
import { isJob, type Rendering } from './rendering.ts';

/**
 * The budgets that the fleet can use in a cluster, as the last check found: with
 * `unhealthyPodEvictionPolicy` (from Kubernetes 1.27), or without it. Null: the cluster has no
 * `policy/v1` (before 1.21), or the credentials do not permit it.
 */
export type DisruptionBudgets = 'with_unhealthy' | 'basic' | null;

type Metadata = Pick<NonNullable<IPodDisruptionBudget['metadata']>, 'namespace' | 'labels' | 'annotations'>;

/**
 * The budget of a deployment with several replicas: when nodes are drained, one pod after the other
 * is evicted. Pods that are not ready anyway do not prevent a drain.
 */
export function disruptionBudgets(
  rendering: Rendering,
  metadata: Metadata,
  supported: DisruptionBudgets = null,
): IPodDisruptionBudget[] {
  if (supported === null || isJob(rendering) || rendering.replicas < 2) return [];
  return [
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { ...metadata, name: objectName(rendering) },
      spec: {
        maxUnavailable: 1,
        selector: { matchLabels: selectorOf(rendering) },
        ...(supported === 'with_unhealthy' && { unhealthyPodEvictionPolicy: 'AlwaysAllow' as const }),
      },
    },
  ];
}

import type { V1Deployment, V1Job, V1Pod, V1ReplicaSet } from '@kubernetes/client-node';
import type { Client } from './cluster-client.ts';
import { selectorOf } from './objects.ts';

/** What runs of a deployment, as its cluster has it. */
export interface Seen {
  readonly deployments: readonly V1Deployment[];
  readonly jobs: readonly V1Job[];
  readonly replicaSets: readonly V1ReplicaSet[];
  readonly pods: readonly V1Pod[];
}

/** Looks at what runs: first at what makes pods and then at the pods, so that no pod is older news than its maker. */
export async function lookAt(client: Client, deploymentId: string): Promise<Seen> {
  const { apps, batch } = await client.apis();
  const which = { namespace: client.address.namespace, labelSelector: selectorOf(deploymentId) };
  const [deployments, jobs] = await Promise.all([apps.listNamespacedDeployment(which), batch.listNamespacedJob(which)]);
  const replicaSets = await apps.listNamespacedReplicaSet(which);
  const pods = await podsOf(client, deploymentId);
  return { deployments: deployments.items ?? [], jobs: jobs.items ?? [], replicaSets: replicaSets.items ?? [], pods };
}

/** The pods of a deployment, those that are leaving included, by name. */
export async function podsOf(client: Client, deploymentId: string): Promise<V1Pod[]> {
  const { core } = await client.apis();
  const which = { namespace: client.address.namespace, labelSelector: selectorOf(deploymentId) };
  const { items } = await core.listNamespacedPod(which);
  return [...(items ?? [])].sort((a, b) => (podName(a) < podName(b) ? -1 : 1));
}

export const podName = ({ metadata }: V1Pod): string => metadata?.name ?? '';

/** Since when something that was deleted has been late to be gone. */
export const lateBy = (leaving: Date | undefined, now: number): number => (leaving ? now - leaving.getTime() : 0);

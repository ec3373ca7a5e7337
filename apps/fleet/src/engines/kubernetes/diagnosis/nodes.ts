import { oneLine, truncate } from '../../redact.ts';
import type { KubernetesClient } from '../client.ts';
import { unlessForbidden } from '../errors.ts';
import { overdueBy } from '../objects.ts';
import type { PodStatus } from '../status/instances.ts';

/** The maximum number of nodes that are read in a pass. */
const MAX_NODES = 3;

/**
 * Sentences that name the nodes that are down, among those of pods that are no longer ready or do
 * not end, each after a space; '' if there are none, or if the credentials do not permit reading
 * nodes.
 */
export async function messageOfNodes(client: KubernetesClient, podStatuses: readonly PodStatus[]): Promise<string> {
  const now = client.now();
  const suspects = podStatuses.filter(
    ({ pod, state }) => state.phase === 'unhealthy' || overdueBy(pod.metadata?.deletionTimestamp, now) > 0,
  );
  const names = [...new Set(suspects.flatMap(({ pod }) => pod.spec?.nodeName ?? []))].sort().slice(0, MAX_NODES);
  const sentences = await Promise.all(names.map((name) => whyDown(client, name)));
  return sentences.join('');
}

async function whyDown(client: KubernetesClient, name: string): Promise<string> {
  const { core } = await client.apis();
  // The permission to list nodes is required anyway, and that to read one is not.
  const list = await unlessForbidden(core.listNode({ fieldSelector: `metadata.name=${name}` }));
  if (!list) return '';
  const node = list.items?.find(({ metadata }) => metadata?.name === name);
  const ready = node?.status?.conditions?.find(({ type }) => type === 'Ready');
  if (!node || ready?.status === 'True') return '';
  const why = oneLine(ready?.message ?? '').replace(/\.$/, '');
  return ` The node ${name} is down${why && `: ${truncate(why)}`}. Start it, or delete it from the cluster, so that its pods are replaced.`;
}

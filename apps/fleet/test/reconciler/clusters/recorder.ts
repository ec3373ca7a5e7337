import { KEYS } from '../../../src/render/labels.ts';
import type { Change } from '../../engines/kubernetes/api-server.ts';

const OURS = ['deployments', 'services', 'secrets'];

/**
 * @returns as text the changes in a cluster that created a second object for a deployment, or wrote
 * a lower generation over a higher one
 */
export function wrongIn(changes: readonly Change[]): string[] {
  const there = new Map<string, Map<string, number>>();
  return changes
    .filter(({ resource }) => OURS.includes(resource))
    .flatMap(({ type, resource, object: { metadata } }) => {
      const key = `${resource} of ${metadata.labels?.[KEYS.deployment]}`;
      const all = there.get(key) ?? new Map<string, number>();
      there.set(key, all);
      const generation = Number(metadata.annotations?.[KEYS.generation]);
      const before = all.get(metadata.uid) ?? 0;
      if (type === 'DELETED') all.delete(metadata.uid);
      else all.set(metadata.uid, generation);
      return [
        ...(resource === 'deployments' && all.size > 1 ? [`two ${key}`] : []),
        ...(generation < before ? [`${key}: generation ${generation} over ${before}`] : []),
      ];
    });
}

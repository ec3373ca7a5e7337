import { useQuery } from '@tanstack/react-query';
import { fleet } from '../../api.ts';
import { MAX_TRIED, proposedNames } from './free-name.ts';

/**
 * A name for a new deployment and its workload that neither has yet; undefined until it is known.
 * If all proposed names are taken, it is the last one, and the plan says so.
 */
export function useFreeName(base: string): string | undefined {
  const names = proposedNames(base);
  const query = { name: names.join(','), limit: MAX_TRIED, view: 'summary' } as const;
  const deployments = useQuery(fleet.read('listDeployments', { query }));
  const workloads = useQuery(fleet.read('listWorkloads', { query }));
  if (deployments.error || workloads.error) return names[0];
  if (!deployments.data || !workloads.data) return undefined;
  const taken = new Set([...deployments.data.deployments, ...workloads.data.workloads].map(({ name }) => name));
  return names.find((name) => !taken.has(name)) ?? names.at(-1);
}

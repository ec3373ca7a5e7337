import { useQuery } from '@tanstack/react-query';
import { fleet } from '../../api.ts';
import { MAX_TRIED, proposedNames } from './free-name.ts';

/** One of several lists in which names are taken. */
interface Taken {
  readonly error: unknown;
  readonly names: readonly { readonly name: string }[] | undefined;
}

/** The first name that none of the lists has; undefined until they are known. */
function freeName(names: readonly string[], lists: readonly Taken[]): string | undefined {
  if (lists.some(({ error }) => error)) return names[0];
  if (lists.some((list) => list.names === undefined)) return undefined;
  const taken = new Set(lists.flatMap((list) => list.names?.map(({ name }) => name) ?? []));
  return names.find((name) => !taken.has(name)) ?? names.at(-1);
}

const queryOf = (names: readonly string[]) => ({ name: names.join(','), limit: MAX_TRIED });

function useDeployments(names: readonly string[]): Taken {
  const { data, error } = useQuery(
    fleet.read('listDeployments', { query: { ...queryOf(names), view: 'summary' } as const }),
  );
  return { error, names: data?.deployments };
}

/**
 * A name for a new deployment and its workload that neither has yet; undefined until it is known.
 * If all proposed names are taken, it is the last one, and the plan says so.
 */
export function useFreeName(base: string): string | undefined {
  const names = proposedNames(base);
  const workloads = useQuery(fleet.read('listWorkloads', { query: { ...queryOf(names), view: 'summary' } as const }));
  return freeName(names, [useDeployments(names), { error: workloads.error, names: workloads.data?.workloads }]);
}

/** The same for a new application. Applications and deployments share their names. */
export function useFreeApplicationName(base: string): string | undefined {
  const names = proposedNames(base);
  const { data, error } = useQuery(fleet.read('listApplications', { query: queryOf(names) }));
  return freeName(names, [useDeployments(names), { error, names: data?.applications }]);
}

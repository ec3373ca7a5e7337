import { useQuery } from '@tanstack/react-query';
import { severityOf } from '../../../../shared/api/severities.ts';
import { fleet } from '../../../api.ts';
import { WITH_UPDATE } from '../UpdateMark.tsx';
import {
  chosenOf,
  MAX_DEPLOYMENTS,
  ownFilterOf,
  type RunSelection,
  type SelectionParameters,
  selectsAll,
} from './run-selection.ts';

const PAGE_SIZE = 100;

interface Selected {
  readonly selection: RunSelection;
  /** The number of deployments that were meant, also if a run cannot contain all of them. */
  readonly total: number;
}

/** The deployments that the address of a page selects for a run. They stay the same while the page is open. */
export const useRunSelection = (parameters: SelectionParameters) =>
  useQuery({
    queryKey: ['selection of a run', parameters],
    queryFn: ({ signal }) => select(parameters, signal),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });

async function select(parameters: SelectionParameters, signal: AbortSignal): Promise<Selected> {
  const chosen = chosenOf(parameters);
  if (chosen) return { selection: { deployment_ids: chosen }, total: chosen.length };
  const { chosen: _, advisory, ...filters } = parameters;
  const query = { ...filters, ...WITH_UPDATE, advisory: severityOf(advisory), limit: PAGE_SIZE } as const;
  const read = (page: number) =>
    fleet.call('listDeployments', { query: { ...query, page, view: 'summary', sort: 'name' }, signal });
  const first = await read(1);
  const { total } = first.pagination;
  const own = ownFilterOf(parameters);
  if (own && total <= MAX_DEPLOYMENTS) return { selection: own, total };
  const applications = selectsAll(parameters) ? await upgradable(signal) : { ids: [], total: 0 };
  const ids = first.deployments.map(({ id }) => id);
  for (let page = 2; page <= first.pagination.totalPages && ids.length < MAX_DEPLOYMENTS; page++) {
    ids.push(...(await read(page)).deployments.map(({ id }) => id));
  }
  const deployments = [...new Set(ids)].slice(0, MAX_DEPLOYMENTS - applications.ids.length);
  return {
    selection: {
      ...(deployments.length > 0 && { deployment_ids: deployments }),
      ...(applications.ids.length > 0 && { application_ids: applications.ids }),
    },
    total: total + applications.total,
  };
}

/** The first applications by name with an available upgrade, and the number of all. */
async function upgradable(signal: AbortSignal) {
  const query = { ...WITH_UPDATE, limit: PAGE_SIZE, sort: 'name' } as const;
  const { applications, pagination } = await fleet.call('listApplications', { query, signal });
  return { ids: applications.map(({ id }) => id), total: pagination.total };
}

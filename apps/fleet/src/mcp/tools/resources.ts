import { partsOf, restOf } from '@svc/contract';
import { fleetEndpoints } from '@svc/contract/fleet';
import { askForNewest } from '@svc/mcp';
import type { Handlers } from './types.ts';

const { listWorkloads, listStorage, listSecrets, getWorkload, listWorkloadRevisions, createWorkload, updateWorkload } =
  fleetEndpoints;

export const resourceTools: Pick<Handlers, 'list_resources' | 'get_workload' | 'save_workload'> = {
  list_resources: async ({ kind, ...given }, { ask }) => {
    const { query } = partsOf(listSecrets, given);
    switch (kind) {
      case 'workload': {
        const { workloads, pagination } = await ask(listWorkloads, { query: { ...query, view: 'summary' } });
        return { workloads, ...restOf(pagination) };
      }
      case 'volume': {
        const { storage, pagination } = await ask(listStorage, { query });
        return { volumes: storage, ...restOf(pagination) };
      }
      case 'secret': {
        const { secrets, pagination } = await ask(listSecrets, { query });
        return { secrets, ...restOf(pagination) };
      }
    }
  },
  get_workload: async ({ include, ...given }, { ask }) => {
    const { params } = partsOf(getWorkload, given);
    const { workload } = await ask(getWorkload, { params });
    if (!include.includes('revisions')) return { workload };
    const { revisions } = await askForNewest(ask, listWorkloadRevisions, { params, limit: 20 });
    return { workload, revisions };
  },
  save_workload: async ({ id, version, ...given }, { ask }) =>
    id === undefined
      ? ask(createWorkload, { body: given })
      : ask(updateWorkload, { params: { id }, body: given, version }),
};

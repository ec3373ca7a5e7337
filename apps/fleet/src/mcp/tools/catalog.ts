import { partsOf, restOf, withRequiredEnv } from '@svc/contract';
import { fleetEndpoints } from '@svc/contract/fleet';
import { readSummaries } from '@svc/mcp';
import type { Handlers } from './types.ts';

const { listMirroredTemplates, getMirroredTemplate, syncCatalog } = fleetEndpoints;
const { listMirroredApplications, getMirroredApplication } = fleetEndpoints;

export const catalogTools: Pick<Handlers, 'search_templates' | 'get_template' | 'sync_catalog'> = {
  search_templates: async ({ kind, ...given }, { ask }) => {
    if (kind === 'application') {
      const query = { ...partsOf(listMirroredApplications, given).query, view: 'summary' };
      const { applications, pagination } = await ask(listMirroredApplications, { query });
      return { applications, ...restOf(pagination) };
    }
    const { query } = partsOf(listMirroredTemplates, given);
    const { templates, pagination } = await readSummaries(ask, listMirroredTemplates, query);
    return { templates: templates.map(withRequiredEnv), ...restOf(pagination) };
  },
  get_template: ({ kind, ...given }, { ask }) => {
    const endpoint = kind === 'application' ? getMirroredApplication : getMirroredTemplate;
    return ask(endpoint, partsOf(endpoint, given));
  },
  sync_catalog: (given, { ask }) => ask(syncCatalog, partsOf(syncCatalog, given)),
};

import { partsOf, restOf, withRequiredEnv } from '@svc/contract';
import { fleetEndpoints } from '@svc/contract/fleet';
import { readSummaries } from '@svc/mcp';
import type { Handlers } from './types.ts';

const { listMirroredTemplates, getMirroredTemplate, syncCatalog } = fleetEndpoints;

export const catalogTools: Pick<Handlers, 'search_templates' | 'get_template' | 'sync_catalog'> = {
  search_templates: async (given, { ask }) => {
    const { query } = partsOf(listMirroredTemplates, given);
    const { templates, pagination } = await readSummaries(ask, listMirroredTemplates, query);
    return { templates: templates.map(withRequiredEnv), ...restOf(pagination) };
  },
  get_template: (given, { ask }) => ask(getMirroredTemplate, partsOf(getMirroredTemplate, given)),
  sync_catalog: (given, { ask }) => ask(syncCatalog, partsOf(syncCatalog, given)),
};

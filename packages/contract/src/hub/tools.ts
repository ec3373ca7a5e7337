import { z } from 'zod';
import { tool } from '../shared/tool.ts';
import { template } from '../template/fields.ts';
import { briefTemplate, restOfList } from '../template/tools.ts';
import { hubCatalogEndpoints } from './catalog.ts';

const { listTemplates, getTemplate } = hubCatalogEndpoints;

/** The tools of the hub. They only read; the catalog is changed by administrators and by files. */
export const hubTools = {
  search_templates: tool({
    title: 'Search templates',
    description: 'Find deployable templates by words, category or tags.',
    calls: [listTemplates],
    takes: listTemplates,
    except: ['view', 'search', 'sort', 'kind', 'tier', 'gpu'],
    own: { limit: z.int().min(1).max(50).default(10) },
    result: z.object({ templates: z.array(briefTemplate), ...restOfList }),
  }),
  get_template: tool({
    title: 'Get a template',
    description:
      'Get a template: image, resources, environment, ports, volumes and documentation. With an API key, it counts as a download.',
    calls: [getTemplate],
    takes: getTemplate,
    result: z.looseObject(template.pick({ slug: true, name: true, documentation: true }).shape),
  }),
};

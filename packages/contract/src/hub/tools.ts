import { z } from 'zod';
import { tool } from '../shared/tool.ts';
import { template } from '../template/fields.ts';
import { briefApplicationOfCatalog, briefTemplate, ofKind, restOfList } from '../template/tools.ts';
import { hubCatalogEndpoints } from './catalog.ts';

const { getApplication, getTemplate, listApplications, listTemplates } = hubCatalogEndpoints;

/** The tools of the hub. They only read; the catalog is changed by administrators and by files. */
export const hubTools = {
  search_templates: tool({
    title: 'Search templates',
    description: 'Find deployable templates, or applications, by words, category or tags.',
    calls: [listTemplates, listApplications],
    operationOf: (given) => (given.kind === 'application' ? listApplications : listTemplates),
    takes: listTemplates,
    except: ['view', 'search', 'sort', 'kind', 'tier', 'gpu'],
    own: { ...ofKind, limit: z.int().min(1).max(50).default(10) },
    result: z.object({
      templates: z.array(briefTemplate).optional(),
      applications: z.array(briefApplicationOfCatalog).optional(),
      ...restOfList,
    }),
  }),
  get_template: tool({
    title: 'Get a template',
    description:
      'Get a template, or the parts of an application: image, resources, environment, ports, volumes and documentation. With an API key, it counts as a download.',
    calls: [getTemplate, getApplication],
    operationOf: (given) => (given.kind === 'application' ? getApplication : getTemplate),
    takes: getTemplate,
    own: ofKind,
    result: z.looseObject(template.pick({ slug: true, name: true, documentation: true }).shape),
  }),
};

import { z } from 'zod';
import { application } from '../applications/application.ts';
import { tool } from '../shared/tool.ts';
import { template } from '../template/fields.ts';
import { briefTemplate, restOfList } from '../template/tools.ts';
import { hubCatalogEndpoints } from './catalog.ts';

const { getApplication, getTemplate, listApplications, listTemplates } = hubCatalogEndpoints;

const kind = z
  .enum(['template', 'application'])
  .default('template')
  .meta({ description: 'An application consists of several containers' });

/** An application in the results of tools. */
const briefApplication = application.pick({
  slug: true,
  name: true,
  description: true,
  category_slug: true,
  tags: true,
  min_tier: true,
});

/** The tools of the hub. They only read; the catalog is changed by administrators and by files. */
export const hubTools = {
  search_templates: tool({
    title: 'Search templates',
    description: 'Find deployable templates, or applications, by words, category or tags.',
    calls: [listTemplates, listApplications],
    operationOf: (given) => (given.kind === 'application' ? listApplications : listTemplates),
    takes: listTemplates,
    except: ['view', 'search', 'sort', 'kind', 'tier', 'gpu'],
    own: { kind, limit: z.int().min(1).max(50).default(10) },
    result: z.object({
      templates: z.array(briefTemplate).optional(),
      applications: z.array(briefApplication).optional(),
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
    own: { kind },
    result: z.looseObject(template.pick({ slug: true, name: true, documentation: true }).shape),
  }),
};

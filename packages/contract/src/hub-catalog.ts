import { z } from 'zod';
import { category } from './category.ts';
import { endpoint } from './endpoint.ts';
import { organization } from './organization.ts';
import { template, templateListQuery } from './template.ts';
import { templateUpdates, updatesQuery } from './template-updates.ts';
import { pagination } from './wire.ts';

const bySlug = z.strictObject({ slug: z.string() });

/** The catalog for fleets and other readers. */
export const hubCatalogEndpoints = {
  listTemplates: endpoint({
    operationId: 'listTemplates',
    method: 'get',
    path: '/api/v1/catalog/templates',
    access: 'catalog',
    tag: 'catalog',
    summary: 'List the templates that are visible to the caller',
    query: templateListQuery,
    reply: z.object({ templates: z.array(template), pagination }),
  }),
  listTemplateUpdates: endpoint({
    operationId: 'listTemplateUpdates',
    method: 'get',
    path: '/api/v1/catalog/templates/updates',
    access: 'catalog',
    tag: 'catalog',
    summary:
      'List changes of the templates that are visible to the caller. The next request sends `checked_at` as `since`, or `cursor`',
    query: updatesQuery,
    reply: templateUpdates,
  }),
  getTemplate: endpoint({
    operationId: 'getTemplate',
    method: 'get',
    path: '/api/v1/catalog/templates/:slug',
    access: 'catalog',
    tag: 'catalog',
    summary: 'Get a template; a request with an API key counts as a download',
    params: bySlug,
    reply: template,
    problems: ['not_found'],
  }),
  listCategories: endpoint({
    operationId: 'listCategories',
    method: 'get',
    path: '/api/v1/catalog/categories',
    access: 'catalog',
    tag: 'catalog',
    summary: 'List the categories that are visible to the caller',
    reply: z.object({ categories: z.array(category) }),
  }),
  getOwnOrganization: endpoint({
    operationId: 'getOwnOrganization',
    method: 'get',
    path: '/api/v1/catalog/organization',
    access: 'organization-key',
    tag: 'catalog',
    summary: 'Get the organization of the API key, with its tier',
    reply: z.object({ organization }),
  }),
};

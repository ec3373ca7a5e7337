import { z } from 'zod';
import { category, categoryChange, managedCategory, newCategory } from './category.ts';
import { endpoint } from './endpoint.ts';
import { newTemplate, ownedTemplate, template, templateChange, templateListQuery } from './template.ts';
import { timestamp, timestampInput } from './timestamp.ts';
import { optionalPaging, pagination, uuid } from './wire.ts';

/** Rows of the hub's policy table. */
export type HubAccess = 'catalog' | 'organization-key' | 'admin';

const TEMPLATE_BODY_LIMIT = 1024 * 1024;

const bySlug = z.strictObject({ slug: z.string() });
const idInQuery = z.strictObject({ id: uuid.optional().meta({ description: 'Instead of `id` in the body' }) });

const catalog = {
  listTemplates: endpoint({
    operationId: 'listTemplates',
    method: 'get',
    path: '/api/v1/catalog/templates',
    access: 'catalog',
    tag: 'catalog',
    summary: 'List the templates that the caller may see',
    query: templateListQuery,
    reply: z.object({ templates: z.array(template), pagination }),
  }),
  listTemplateUpdates: endpoint({
    operationId: 'listTemplateUpdates',
    method: 'get',
    path: '/api/v1/catalog/templates/updates',
    access: 'catalog',
    tag: 'catalog',
    summary: 'What changed for the caller since a moment: `checked_at` is the next call’s `since`',
    query: z.strictObject({ since: timestampInput }),
    reply: z.object({
      templates: z.array(template).meta({ description: 'Visible now, and new or changed for the caller since then' }),
      removed: z
        .array(z.object({ id: z.string() }))
        .meta({ description: 'Seen by the caller before, and no longer visible' }),
      checked_at: timestamp.meta({ description: 'The catalog’s time of this answer' }),
    }),
  }),
  getTemplate: endpoint({
    operationId: 'getTemplate',
    method: 'get',
    path: '/api/v1/catalog/templates/:slug',
    access: 'catalog',
    tag: 'catalog',
    summary: 'Get one template; with an API key it counts as a download',
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
    summary: 'List the categories that the caller may see',
    reply: z.object({ categories: z.array(category) }),
  }),
  getOwnOrganization: endpoint({
    operationId: 'getOwnOrganization',
    method: 'get',
    path: '/api/v1/catalog/organization',
    access: 'organization-key',
    tag: 'catalog',
    summary: 'The organization of the API key, with its tier',
    reply: z.object({
      organization: z.object({
        id: z.string(),
        name: z.string(),
        slug: z.string(),
        tier: z.string(),
        status: z.string(),
      }),
    }),
  }),
};

const admin = {
  listAllTemplates: endpoint({
    operationId: 'listAllTemplates',
    method: 'get',
    path: '/api/v1/admin/templates',
    access: 'admin',
    tag: 'admin',
    summary: 'List all templates, private ones included',
    query: z.strictObject(optionalPaging),
    reply: z.object({ templates: z.array(ownedTemplate), pagination }),
  }),
  createTemplate: endpoint({
    operationId: 'createTemplate',
    method: 'post',
    path: '/api/v1/admin/templates',
    access: 'admin',
    tag: 'admin',
    summary: 'Create a template',
    body: newTemplate,
    bodyLimit: TEMPLATE_BODY_LIMIT,
    status: 201,
    reply: z.object({ template: ownedTemplate }),
    problems: ['slug_taken', 'unknown_category', 'unknown_organization'],
  }),
  updateTemplate: endpoint({
    operationId: 'updateTemplate',
    method: 'put',
    path: '/api/v1/admin/templates',
    access: 'admin',
    tag: 'admin',
    summary: 'Change the members of a template that the body names',
    query: idInQuery,
    body: templateChange,
    bodyLimit: TEMPLATE_BODY_LIMIT,
    reply: z.object({ template: ownedTemplate }),
    problems: ['not_found', 'slug_taken', 'unknown_category', 'unknown_organization'],
  }),
  listAllCategories: endpoint({
    operationId: 'listAllCategories',
    method: 'get',
    path: '/api/v1/admin/categories',
    access: 'admin',
    tag: 'admin',
    summary: 'List all categories, with counts of templates and grants',
    query: z.strictObject(optionalPaging),
    reply: z.object({ categories: z.array(managedCategory), pagination }),
  }),
  createCategory: endpoint({
    operationId: 'createCategory',
    method: 'post',
    path: '/api/v1/admin/categories',
    access: 'admin',
    tag: 'admin',
    summary: 'Create a category',
    body: newCategory,
    status: 201,
    reply: z.object({ category: managedCategory }),
    problems: ['slug_taken'],
  }),
  updateCategory: endpoint({
    operationId: 'updateCategory',
    method: 'put',
    path: '/api/v1/admin/categories',
    access: 'admin',
    tag: 'admin',
    summary: 'Change the members of a category that the body names',
    query: idInQuery,
    body: categoryChange,
    reply: z.object({ category: managedCategory }),
    problems: ['not_found', 'slug_taken'],
  }),
};

/** Every operation of the hub. */
export const hubEndpoints = { ...catalog, ...admin };

/** The operations that a fleet calls. */
export const hubCatalogEndpoints = catalog;

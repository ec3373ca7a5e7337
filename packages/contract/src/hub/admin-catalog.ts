import { z } from 'zod';
import { endpoint } from '../shared/endpoint.ts';
import { largeReads, largeRowReads } from '../shared/reads.ts';
import { timestamp } from '../shared/timestamp.ts';
import {
  byUuid,
  id,
  identified,
  idInQuery,
  optionalPaging,
  pagination,
  searchIn,
  text,
  uuid,
  wordQuery,
} from '../shared/wire.ts';
import { changeMessage } from '../template/advice.ts';
import { categoryChange, managedCategory, newCategory } from '../template/category.ts';
import { list, newTemplate, ownedTemplate, templateChange, templateInForm, templateView } from '../template/fields.ts';
import { warnings } from '../template/new-values.ts';
import { MAX_CATALOG_FILE } from './publish.ts';

const TEMPLATE_BODY_LIMIT = 1024 * 1024;

const grant = z
  .object({
    id,
    org_id: id,
    org_slug: z.string(),
    category_id: id,
    category_slug: z.string(),
    created_at: timestamp,
  })
  .meta({ id: 'Grant', description: 'The right of an organization to see a private category' });

const grantName = {
  id: uuid.optional(),
  org_id: uuid.optional(),
  category_id: uuid.optional(),
};

/** The maximum number of organizations that a plan examines. */
export const MAX_PLANNED_ORGANIZATIONS = 1000;

const pairs = list(z.strictObject({ org_id: uuid, category_id: uuid })).default([]);

const accessChanges = z.strictObject({ grants: pairs, revokes: pairs });

/** Numbers of templates that become visible, and that no longer are. */
const visibilityChange = z.object({
  gained: z.int().meta({ description: 'Templates that would be visible in addition' }),
  lost: z.int().meta({ description: 'Templates that would no longer be visible' }),
  applications: z.object({ gained: z.int(), lost: z.int() }).meta({ description: 'The same for applications' }),
});

/** Administration of the catalog and of grants. */
export const hubAdminCatalogEndpoints = {
  listAllTemplates: endpoint({
    operationId: 'listAllTemplates',
    method: 'get',
    path: '/api/v1/admin/templates',
    access: 'admin',
    tag: 'admin',
    summary: 'List all templates, including private ones',
    query: z.strictObject({
      ...optionalPaging,
      search: searchIn('name or description'),
      q: wordQuery('. The list then has pages'),
      org_id: uuid.optional().meta({ description: 'Only templates that this organization owns' }),
      as: uuid.optional().meta({
        description: 'Only templates that this organization sees with its API keys. The list then has pages',
      }),
      view: templateView,
    }),
    reads: largeRowReads,
    reply: z.object({ templates: z.array(ownedTemplate), pagination }),
    problems: ['unknown_organization'],
  }),
  getManagedTemplate: endpoint({
    operationId: 'getManagedTemplate',
    method: 'get',
    path: '/api/v1/admin/templates/:id',
    access: 'admin',
    tag: 'admin',
    summary: 'Get a template, also a private one',
    params: byUuid,
    reads: largeReads,
    reply: z.object({ template: ownedTemplate }),
    problems: ['not_found'],
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
    problems: ['slug_taken', 'unknown_category', 'unknown_organization', 'signature_invalid'],
  }),
  readTemplateFile: endpoint({
    operationId: 'readTemplateFile',
    method: 'post',
    path: '/api/v1/admin/templates/file',
    access: 'admin',
    tag: 'admin',
    summary: 'Read a catalog file with the rules of `import`, with nothing stored',
    body: z
      .strictObject({ yaml: text(MAX_CATALOG_FILE).meta({ description: 'The content of the file' }) })
      .meta({ examples: [{ yaml: 'name: Server\ncategory: tools\nimage_name: library/server\n' }] }),
    bodyLimit: TEMPLATE_BODY_LIMIT,
    reply: z.object({ template: templateInForm, warnings }),
  }),
  updateTemplate: endpoint({
    operationId: 'updateTemplate',
    method: 'put',
    path: '/api/v1/admin/templates',
    access: 'admin',
    tag: 'admin',
    summary: 'Change a template; members that are left out do not change',
    query: idInQuery,
    body: templateChange,
    bodyLimit: TEMPLATE_BODY_LIMIT,
    reply: z.object({ template: ownedTemplate }),
    headers: ['If-Match'],
    problems: [
      'not_found',
      'version_conflict',
      'slug_taken',
      'unknown_category',
      'unknown_organization',
      'breaks_signature',
      'signature_invalid',
    ],
  }),
  listAllCategories: endpoint({
    operationId: 'listAllCategories',
    method: 'get',
    path: '/api/v1/admin/categories',
    access: 'admin',
    tag: 'admin',
    summary: 'List all categories, with the numbers of their templates and grants',
    query: z.strictObject({ ...optionalPaging, search: searchIn('name or slug') }),
    reply: z.object({ categories: z.array(managedCategory), pagination }),
  }),
  getManagedCategory: endpoint({
    operationId: 'getManagedCategory',
    method: 'get',
    path: '/api/v1/admin/categories/:id',
    access: 'admin',
    tag: 'admin',
    summary: 'Get a category, also a private one',
    params: byUuid,
    reply: z.object({ category: managedCategory }),
    problems: ['not_found'],
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
    summary: 'Change a category; members that are left out do not change',
    query: idInQuery,
    body: categoryChange,
    reply: z.object({ category: managedCategory }),
    headers: ['If-Match'],
    problems: ['not_found', 'version_conflict', 'slug_taken'],
  }),
  deleteTemplate: endpoint({
    operationId: 'deleteTemplate',
    method: 'delete',
    path: '/api/v1/admin/templates',
    access: 'admin',
    tag: 'admin',
    summary: 'Delete a template. Its history remains, so that it can be restored',
    query: idInQuery,
    body: identified.extend({ message: changeMessage }),
    status: 204,
    reply: z.void(),
    headers: ['If-Match'],
    problems: ['not_found', 'version_conflict'],
  }),
  deleteCategory: endpoint({
    operationId: 'deleteCategory',
    method: 'delete',
    path: '/api/v1/admin/categories',
    access: 'admin',
    tag: 'admin',
    summary: 'Delete a category without templates, and its grants',
    query: idInQuery,
    body: identified,
    status: 204,
    reply: z.void(),
    headers: ['If-Match'],
    problems: ['not_found', 'version_conflict', 'category_in_use'],
  }),
  listGrants: endpoint({
    operationId: 'listGrants',
    method: 'get',
    path: '/api/v1/admin/catalog-access',
    access: 'admin',
    tag: 'admin',
    summary: 'List all grants',
    query: z.strictObject({ ...optionalPaging, org_id: uuid.optional(), category_id: uuid.optional() }),
    reply: z.object({ grants: z.array(grant), pagination }),
  }),
  grantAccess: endpoint({
    operationId: 'grantAccess',
    method: 'post',
    path: '/api/v1/admin/catalog-access',
    access: 'admin',
    tag: 'admin',
    summary: 'Grant an organization access to a private category; 200 with the existing grant if there is one',
    body: z.strictObject({ org_id: uuid, category_id: uuid }),
    status: 201,
    alsoStatus: 200,
    reply: z.object({ grant }),
    problems: ['unknown_organization', 'unknown_category'],
  }),
  changeAccess: endpoint({
    operationId: 'changeAccess',
    method: 'put',
    path: '/api/v1/admin/catalog-access',
    access: 'admin',
    tag: 'admin',
    summary: 'Create and revoke several grants in one transaction; those that exist, or do not exist, already stay so',
    body: accessChanges.meta({ id: 'AccessChanges' }),
    reply: z.object({ granted: z.int(), revoked: z.int() }).meta({ id: 'AccessChanged' }),
    problems: ['unknown_organization', 'unknown_category'],
  }),
  planVisibility: endpoint({
    operationId: 'planVisibility',
    method: 'post',
    path: '/api/v1/admin/visibility/plan',
    access: 'admin',
    tag: 'admin',
    summary: 'Get what changes would show to and hide from organizations, with nothing stored',
    body: accessChanges.extend({
      categories: list(z.strictObject({ id: uuid, is_private: z.boolean() }))
        .default([])
        .meta({ description: 'Categories that would become private or public' }),
      withdrawn: list(uuid)
        .default([])
        .meta({ description: 'The ids of templates and applications that would be deleted' }),
    }),
    reply: z.object({
      everyone: visibilityChange.meta({
        description: 'For callers without an API key, and for all organizations that are not listed',
      }),
      organizations: z.array(
        visibilityChange.extend({
          id,
          slug: z.string(),
          name: z.string(),
          categories: z.array(visibilityChange.extend({ id, slug: z.string() })),
        }),
      ),
      total: z.int().meta({
        description: `The number of organizations for which the rule could differ from \`everyone\`. At most ${MAX_PLANNED_ORGANIZATIONS} of them are examined, by slug`,
      }),
    }),
    problems: ['overloaded'],
  }),
  revokeAccess: endpoint({
    operationId: 'revokeAccess',
    method: 'delete',
    path: '/api/v1/admin/catalog-access',
    access: 'admin',
    tag: 'admin',
    summary: 'Revoke a grant, identified by its id or by organization and category',
    query: z.strictObject(grantName),
    body: z.strictObject(grantName),
    status: 204,
    reply: z.void(),
    problems: ['not_found'],
  }),
};

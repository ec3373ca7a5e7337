import { z } from 'zod';
import { category } from './category.ts';
import { endpoint } from './endpoint.ts';
import { organization } from './organization.ts';
import { template, templateListQuery } from './template.ts';
import { timestamp } from './timestamp.ts';
import { pagination } from './wire.ts';

export const syncState = z
  .object({
    status: z
      .enum(['not_configured', 'never_synced', 'fresh', 'stale'])
      .meta({ description: '`stale`: the last try failed; the mirror is as old as `last_success_at`' }),
    hub_url: z.string().nullable(),
    checked_at: timestamp.nullable().meta({ description: 'The hub’s catalog time up to which the mirror is complete' }),
    last_success_at: timestamp.nullable(),
    age_seconds: z.int().nullable().meta({ description: 'Seconds since the last success' }),
    stale_since: timestamp.nullable().meta({ description: 'When the first of the present row of failures was' }),
    last_failure: z
      .object({ at: timestamp, reason: z.string() })
      .nullable()
      .meta({ description: 'The last one that there was, also when it is over' }),
    next_try_at: timestamp.nullable().meta({ description: 'When the hub is asked next; null: only on demand' }),
    last_sync: z
      .object({ full: z.boolean(), updated: z.int(), removed: z.int() })
      .nullable()
      .meta({ description: 'What travelled at the last success' }),
    counts: z.object({ templates: z.int(), categories: z.int() }),
    organization: organization
      .nullable()
      .meta({ description: 'Whose key this fleet has, and its tier, as of the last sync; null: not known yet' }),
  })
  .meta({ id: 'SyncState' });

/** The mirror of the hub's catalog, and how it stands to the hub. */
export const fleetCatalogEndpoints = {
  listMirroredTemplates: endpoint({
    operationId: 'listMirroredTemplates',
    method: 'get',
    path: '/api/v1/catalog/templates',
    access: 'catalog-read',
    tag: 'catalog',
    summary: 'List the templates of the mirror',
    query: templateListQuery,
    reply: z.object({ templates: z.array(template), pagination }),
  }),
  getMirroredTemplate: endpoint({
    operationId: 'getMirroredTemplate',
    method: 'get',
    path: '/api/v1/catalog/templates/:slug',
    access: 'catalog-read',
    tag: 'catalog',
    summary: 'Get one template of the mirror',
    params: z.strictObject({ slug: z.string() }),
    reply: template,
    problems: ['not_found'],
  }),
  listMirroredCategories: endpoint({
    operationId: 'listMirroredCategories',
    method: 'get',
    path: '/api/v1/catalog/categories',
    access: 'catalog-read',
    tag: 'catalog',
    summary: 'List the categories of the mirror; their templates are counted in it',
    reply: z.object({ categories: z.array(category) }),
  }),
  getSyncState: endpoint({
    operationId: 'getSyncState',
    method: 'get',
    path: '/api/v1/catalog/sync',
    access: 'catalog-read',
    tag: 'catalog',
    summary: 'How fresh the mirror is',
    reply: syncState,
  }),
  syncCatalog: endpoint({
    operationId: 'syncCatalog',
    method: 'post',
    path: '/api/v1/catalog/sync',
    access: 'catalog-sync',
    tag: 'catalog',
    summary: 'Fetch now what changed in the hub, or everything',
    body: z.strictObject({
      full: z
        .boolean()
        .default(false)
        .meta({ description: 'Begin from nothing, and drop at the end what the hub does not list any more' }),
    }),
    reply: syncState,
    problems: ['hub_not_configured', 'hub_unreachable'],
  }),
};

import { z } from 'zod';
import { application, applicationView } from '../applications/application.ts';
import { endpoint, fileBytes } from '../shared/endpoint.ts';
import { organization } from '../shared/organization.ts';
import { largeReads, largeRowReads, MEBIBYTE } from '../shared/reads.ts';
import { timestamp } from '../shared/timestamp.ts';
import { flag, pagination, paging } from '../shared/wire.ts';
import { category } from '../template/category.ts';
import { template, templateFilters, templateListQuery } from '../template/fields.ts';

/** The maximum number of skipped entries that the state of the sync lists. */
export const MAX_SKIPPED_LISTED = 20;

/** The maximum number of network types that are listed. */
export const MAX_NETWORK_TYPES_LISTED = 20;

const skippedEntry = z.object({
  kind: z.enum(['template', 'category', 'application']),
  id: z.string().nullable().meta({ description: 'null: the id cannot be read either' }),
  slug: z.string().nullable().meta({ description: 'null: the slug cannot be read either' }),
  reason: z.string().meta({ description: 'The first member that cannot be read, and what is allowed' }),
});

/** Who has signed a template of the mirror, as of the last verification. Decisions verify again. */
const templateTrust = z
  .object({
    state: z.string().meta({ description: '`trusted`, `excepted` or `untrusted`', examples: ['trusted'] }),
    publisher: z.string().nullable(),
    publisher_name: z.string().nullable(),
    reason: z.string().nullable().meta({ description: 'Why it is not trusted' }),
  })
  .meta({ id: 'TemplateTrust' });
export type TemplateTrust = z.output<typeof templateTrust>;

/** A template of the mirror. */
const mirroredTemplate = template
  .extend({
    stale: z.boolean().meta({
      description:
        'The hub has sent a newer version that this version of the fleet cannot read; see `skipped` of the sync',
    }),
    trust: templateTrust
      .nullable()
      .meta({ description: 'null: the policy is off, or the template was not verified yet' }),
  })
  .meta({ id: 'MirroredTemplate' });

const stale = mirroredTemplate.shape.stale;

/** An application of the mirror. */
const mirroredApplication = application.extend({ stale }).meta({ id: 'MirroredApplication' });

export const syncState = z
  .object({
    status: z
      .enum(['not_configured', 'never_synced', 'fresh', 'stale'])
      .meta({ description: '`stale`: the last sync failed; the mirror is as old as `last_success_at`' }),
    hub_url: z.string().nullable(),
    checked_at: timestamp
      .nullable()
      .meta({ description: 'Catalog time of the hub up to which the mirror is complete' }),
    last_success_at: timestamp.nullable(),
    age_seconds: z.int().nullable().meta({ description: 'Seconds since the last successful sync' }),
    stale_since: timestamp.nullable().meta({ description: 'Time of the first failure since the last successful sync' }),
    last_failure: z
      .object({ at: timestamp, reason: z.string() })
      .nullable()
      .meta({ description: 'The most recent failure, also if a later sync succeeded' }),
    next_try_at: timestamp.nullable().meta({ description: 'Time of the next sync; null: only on demand' }),
    last_sync: z
      .object({ full: z.boolean(), updated: z.int(), removed: z.int() })
      .nullable()
      .meta({ description: 'What the last successful sync transferred' }),
    counts: z.object({ templates: z.int(), categories: z.int(), applications: z.int() }),
    skipped: z
      .object({
        total: z.int(),
        entries: z.array(skippedEntry).meta({ description: `The first ${MAX_SKIPPED_LISTED}, by kind and slug` }),
      })
      .meta({
        description:
          'Templates, categories and applications of the hub that this version of the fleet cannot read. The mirror keeps its previous copies. Each sync fetches them again',
      }),
    from_bundle: z
      .boolean()
      .meta({ description: 'The mirror comes from a bundle. Nothing shows whether it is complete, or the newest one' }),
    organization: organization
      .nullable()
      .meta({ description: 'The organization of the API key of this fleet, as of the last sync; null: not known yet' }),
  })
  .meta({ id: 'SyncState' });

/** The maximum size of a bundle in bytes, as a file and unpacked. */
const MAX_BUNDLE = 64 * MEBIBYTE;
export const MAX_UNPACKED_BUNDLE = 256 * MEBIBYTE;

/** The mirror of the hub's catalog, and its sync. */
export const fleetCatalogEndpoints = {
  listMirroredTemplates: endpoint({
    operationId: 'listMirroredTemplates',
    method: 'get',
    path: '/api/v1/catalog/templates',
    access: 'catalog-read',
    tag: 'catalog',
    summary: 'List the templates of the mirror',
    query: templateListQuery,
    reads: largeRowReads,
    reply: z.object({ templates: z.array(mirroredTemplate), pagination }),
  }),
  getMirroredTemplate: endpoint({
    operationId: 'getMirroredTemplate',
    method: 'get',
    path: '/api/v1/catalog/templates/:slug',
    access: 'catalog-read',
    tag: 'catalog',
    summary: 'Get one template of the mirror',
    params: z.strictObject({ slug: z.string() }),
    reads: largeReads,
    reply: mirroredTemplate,
    problems: ['not_found'],
  }),
  listMirroredApplications: endpoint({
    operationId: 'listMirroredApplications',
    method: 'get',
    path: '/api/v1/catalog/applications',
    access: 'catalog-read',
    tag: 'catalog',
    summary: 'List the applications of the mirror',
    query: z.strictObject({ ...templateFilters, ...paging, view: applicationView }),
    reads: largeRowReads,
    reply: z.object({ applications: z.array(mirroredApplication), pagination }),
  }),
  getMirroredApplication: endpoint({
    operationId: 'getMirroredApplication',
    method: 'get',
    path: '/api/v1/catalog/applications/:slug',
    access: 'catalog-read',
    tag: 'catalog',
    summary: 'Get one application of the mirror',
    params: z.strictObject({ slug: z.string() }),
    reads: largeReads,
    reply: mirroredApplication,
    problems: ['not_found'],
  }),
  listMirroredCategories: endpoint({
    operationId: 'listMirroredCategories',
    method: 'get',
    path: '/api/v1/catalog/categories',
    access: 'catalog-read',
    tag: 'catalog',
    summary: 'List the categories of the mirror, with the number of their templates in the mirror',
    reply: z.object({ categories: z.array(category) }),
  }),
  listNetworkTypes: endpoint({
    operationId: 'listNetworkTypes',
    method: 'get',
    path: '/api/v1/catalog/network-types',
    access: 'catalog-read',
    tag: 'catalog',
    summary: 'List the network types that templates of the mirror require, the most frequent ones first',
    reply: z.object({
      template_count: z.int().meta({ description: 'All templates of the mirror' }),
      network_types: z
        .array(z.object({ name: z.string(), template_count: z.int() }))
        .meta({ description: `At most ${MAX_NETWORK_TYPES_LISTED}` }),
    }),
  }),
  getSyncState: endpoint({
    operationId: 'getSyncState',
    method: 'get',
    path: '/api/v1/catalog/sync',
    access: 'catalog-read',
    tag: 'catalog',
    summary: 'Get the state of the sync',
    reply: syncState,
  }),
  syncCatalog: endpoint({
    operationId: 'syncCatalog',
    method: 'post',
    path: '/api/v1/catalog/sync',
    access: 'catalog-sync',
    tag: 'catalog',
    summary: 'Sync the mirror with the hub now, incrementally or with a full walk',
    body: z.strictObject({
      full: z
        .boolean()
        .default(false)
        .meta({ description: 'Fetch all templates, and remove those that the hub no longer lists' }),
    }),
    reply: syncState,
    problems: ['hub_not_configured', 'hub_unreachable'],
  }),
  importBundle: endpoint({
    operationId: 'importBundle',
    method: 'post',
    path: '/api/v1/catalog/bundle',
    access: 'settings',
    tag: 'catalog',
    summary: 'Replace the mirror with the catalog in a bundle of a hub, as a full walk does',
    query: z.strictObject({
      force: flag.default(false).meta({
        description:
          'Also if the bundle is older than the mirror or of another organization, or if a hub is configured',
      }),
    }),
    body: fileBytes,
    upload: { type: 'application/gzip', limit: MAX_BUNDLE },
    reply: syncState,
    problems: [
      'bundle_invalid',
      'bundle_outdated',
      'other_organization',
      'hub_configured',
      'found_empty',
      'overloaded',
    ],
  }),
};

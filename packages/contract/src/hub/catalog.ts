import { z } from 'zod';
import { application, applicationView } from '../applications/application.ts';
import { cursorInput } from '../shared/cursor.ts';
import { endpoint } from '../shared/endpoint.ts';
import { anyName, anyValue } from '../shared/list-query.ts';
import { documentedAs } from '../shared/openapi-schema.ts';
import { organization, tier } from '../shared/organization.ts';
import { changesReads, largeReads, largeRowReads, MEBIBYTE, smallReads } from '../shared/reads.ts';
import { timestamp, timestampInput } from '../shared/timestamp.ts';
import { commaSeparated, flag, id, MAX_PAGE_SIZE, pagination, paging, queryInteger } from '../shared/wire.ts';
import { category } from '../template/category.ts';
import { changelogEntry } from '../template/changelog.ts';
import { template, templateFilters, templateView } from '../template/fields.ts';
import { hubPublisherEndpoints, MAX_PUBLISHERS } from './publishers.ts';

/** The maximum number of entries of a feed. */
export const FEED_ENTRIES = 50;

/** The maximum and the default number of templates and removals on a page. */
const MAX_UPDATES = 1000;
export const DEFAULT_UPDATES = 500;

/** Exactly one of `since`, for one complete response, and `cursor`, for pages. */
const updatesQuery = z
  .strictObject({
    since: timestampInput.optional(),
    cursor: cursorInput.optional(),
    limit: queryInteger(1, MAX_UPDATES)
      .optional()
      .meta({
        ...documentedAs({ type: 'integer', minimum: 1, maximum: MAX_UPDATES, default: DEFAULT_UPDATES }),
        description: 'Maximum number of objects and removals on a page; only with `cursor`',
      }),
  })
  .check(({ value, issues }) => {
    const refuse = (path: string, message: string) =>
      issues.push({ code: 'custom', path: [path], message, input: value });
    if (value.since && value.cursor) refuse('cursor', 'must not be combined with since');
    if (!value.since && !value.cursor) {
      refuse(
        'since',
        'is required unless cursor is set: 1970-01-01T00:00:00Z in the first request, then the last checked_at',
      );
    }
    if (value.since && value.limit) refuse('limit', 'requires cursor; a response to since is not paged');
  });

/** What a reply with changes contains beside the objects, whose plural is `noun`. */
const restOfUpdates = (noun: string) => ({
  removed: z
    .array(z.object({ id }))
    .meta({ description: `Those ${noun} that were visible to the caller and no longer are` }),
  checked_at: timestamp.meta({
    description: 'Catalog time up to which the caller has all changes; it advances with the last page of a walk',
  }),
  cursor: z.string().meta({ description: 'Opaque position from which to continue' }),
  reset: z.boolean().meta({ description: `A full walk starts: at its end, remove all ${noun} that it did not list` }),
  has_more: z.boolean().meta({ description: 'More pages are available' }),
});

const templateUpdates = z.object({
  templates: z.array(template).meta({ description: 'Visible templates that are new or changed for the caller' }),
  ...restOfUpdates('templates'),
});
export type TemplateUpdates = z.output<typeof templateUpdates>;

const applicationUpdates = z.object({
  applications: z
    .array(application)
    .meta({ description: 'Visible applications that are new or changed for the caller' }),
  ...restOfUpdates('applications'),
});

const bySlug = z.strictObject({ slug: z.string() });

const changelog = z.object({ entries: z.array(changelogEntry), pagination });
const feedReads = { rows: smallReads.rows + FEED_ENTRIES, bytes: MEBIBYTE };

/** Filters of the catalog. A template matches if it matches each of them. */
const catalogFilters = {
  ...templateFilters,
  category: commaSeparated.optional().meta({
    description: 'Slugs of categories, comma-separated; a template matches if it is in one of them',
  }),
  kind: anyName('Kinds, such as `service`'),
  tier: anyValue('min_tier', tier),
  gpu: flag.optional().meta({ description: '`true`: only templates that request GPUs; `false`: only other templates' }),
};

/** An application of which a part requests GPUs matches `gpu=true`. */
const applicationFilters = {
  category: catalogFilters.category,
  search: templateFilters.search,
  q: templateFilters.q,
  featured: templateFilters.featured,
  tags: templateFilters.tags,
  tier: catalogFilters.tier,
  gpu: catalogFilters.gpu,
};

const templateOrder = z
  .enum(['name', '-download_count', '-created_at'], 'must be name, -download_count or -created_at')
  .optional()
  .meta({
    description:
      'By name, or with the most downloads or the newest template first. Default: `name`, and with `q`, the best match first',
  });

const valueCounts = z.array(z.object({ value: z.string(), count: z.int() }));

/** The maximum number of values of each filter in the reply of `countTemplates`. */
export const MAX_COUNTED_VALUES = 100;

const templateCounts = z
  .object({ category: valueCounts, kind: valueCounts, tier: valueCounts, gpu: valueCounts })
  .meta({
    id: 'TemplateCounts',
    description: `For each filter, its values with the number of templates that match the value and all other filters: at most ${MAX_COUNTED_VALUES}, the most frequent first`,
  });
export type TemplateCounts = z.output<typeof templateCounts>;

/** The catalog for fleets and other readers. */
export const hubCatalogEndpoints = {
  listTemplates: endpoint({
    operationId: 'listTemplates',
    method: 'get',
    path: '/api/v1/catalog/templates',
    access: 'catalog',
    tag: 'catalog',
    summary: 'List the templates that are visible to the caller',
    query: z.strictObject({ ...catalogFilters, sort: templateOrder, ...paging, view: templateView }),
    reads: largeRowReads,
    reply: z.object({ templates: z.array(template), pagination }),
  }),
  countTemplates: endpoint({
    operationId: 'countTemplates',
    method: 'get',
    path: '/api/v1/catalog/counts',
    access: 'catalog',
    tag: 'catalog',
    summary: 'Count the templates that are visible to the caller by category, kind, tier and GPUs',
    query: z.strictObject(catalogFilters),
    reply: z.object({
      counts: templateCounts.nullable().meta({
        description: 'null: too many templates match `search`, `tags` or `featured` to be counted',
      }),
    }),
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
    reads: changesReads,
    reply: templateUpdates,
    problems: ['overloaded'],
  }),
  getTemplate: endpoint({
    operationId: 'getTemplate',
    method: 'get',
    path: '/api/v1/catalog/templates/:slug',
    access: 'catalog',
    tag: 'catalog',
    summary: 'Get a template; a request with an API key counts as a download',
    params: bySlug,
    reads: largeReads,
    reply: template,
    problems: ['not_found'],
  }),
  getTemplateIcon: endpoint({
    operationId: 'getTemplateIcon',
    method: 'get',
    path: '/api/v1/catalog/templates/:slug/icon',
    access: 'catalog',
    tag: 'catalog',
    summary: 'Get the icon of a template, which the hub has fetched from `icon_url`',
    params: bySlug,
    reads: largeReads,
    reply: z.void(),
    file: 'image/*',
    problems: ['not_found'],
  }),
  getChangelog: endpoint({
    operationId: 'getChangelog',
    method: 'get',
    path: '/api/v1/catalog/templates/:slug/changelog',
    access: 'catalog',
    tag: 'catalog',
    summary: 'List the changes of a template since the caller sees it without interruption, newest first',
    params: bySlug,
    query: z.strictObject(paging),
    reply: changelog,
    problems: ['not_found'],
  }),
  getChangelogFeed: endpoint({
    operationId: 'getChangelogFeed',
    method: 'get',
    path: '/api/v1/catalog/templates/:slug/changelog/feed',
    access: 'catalog',
    tag: 'catalog',
    summary: `Get the newest ${FEED_ENTRIES} entries of the changelog of a template as an Atom feed`,
    params: bySlug,
    reads: feedReads,
    reply: z.void(),
    file: 'application/atom+xml',
    problems: ['not_found'],
  }),
  listApplications: endpoint({
    operationId: 'listApplications',
    method: 'get',
    path: '/api/v1/catalog/applications',
    access: 'catalog',
    tag: 'catalog',
    summary: 'List the applications that are visible to the caller',
    query: z.strictObject({ ...applicationFilters, sort: templateOrder, ...paging, view: applicationView }),
    reads: largeRowReads,
    reply: z.object({ applications: z.array(application), pagination }),
  }),
  listApplicationUpdates: endpoint({
    operationId: 'listApplicationUpdates',
    method: 'get',
    path: '/api/v1/catalog/applications/updates',
    access: 'catalog',
    tag: 'catalog',
    summary:
      'List changes of the applications that are visible to the caller, in the same way as those of templates. Nothing has changed while `checked_at` of the templates is the same',
    query: updatesQuery,
    reads: changesReads,
    reply: applicationUpdates,
    problems: ['overloaded'],
  }),
  getApplication: endpoint({
    operationId: 'getApplication',
    method: 'get',
    path: '/api/v1/catalog/applications/:slug',
    access: 'catalog',
    tag: 'catalog',
    summary: 'Get an application; a request with an API key counts as a download',
    params: bySlug,
    reads: largeReads,
    reply: application,
    problems: ['not_found'],
  }),
  getApplicationChangelog: endpoint({
    operationId: 'getApplicationChangelog',
    method: 'get',
    path: '/api/v1/catalog/applications/:slug/changelog',
    access: 'catalog',
    tag: 'catalog',
    summary: 'List the changes of an application since the caller sees it without interruption, newest first',
    params: bySlug,
    query: z.strictObject(paging),
    reply: changelog,
    problems: ['not_found'],
  }),
  getApplicationChangelogFeed: endpoint({
    operationId: 'getApplicationChangelogFeed',
    method: 'get',
    path: '/api/v1/catalog/applications/:slug/changelog/feed',
    access: 'catalog',
    tag: 'catalog',
    summary: `Get the newest ${FEED_ENTRIES} entries of the changelog of an application as an Atom feed`,
    params: bySlug,
    reads: feedReads,
    reply: z.void(),
    file: 'application/atom+xml',
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

const MAX_CURSOR = 4096;
const { listPublishers } = hubPublisherEndpoints;
const MAX_CATEGORIES = 10_000;
const {
  getApplication,
  getApplicationChangelog,
  getChangelog,
  getOwnOrganization,
  getTemplate,
  listApplicationUpdates,
  listCategories,
  listTemplateUpdates,
} = hubCatalogEndpoints;

/** A list of objects that are parsed one by one. */
const unread = z.array(z.unknown()).max(MAX_UPDATES);
const readChangelog = z.object({ entries: z.array(z.unknown()).max(MAX_PAGE_SIZE) });
const readRest = { removed: unread, cursor: z.string().max(MAX_CURSOR) };

/**
 * The endpoints that a fleet calls, with replies of which only the envelope is parsed. The hub can
 * have another version than the fleet, so the fleet parses each entry on its own: an entry that it
 * cannot read must not hide the others.
 */
export const hubReaderEndpoints = {
  getOwnOrganization,
  listTemplateUpdates: { ...listTemplateUpdates, reply: templateUpdates.extend({ templates: unread, ...readRest }) },
  listApplicationUpdates: {
    ...listApplicationUpdates,
    reply: applicationUpdates.extend({ applications: unread, ...readRest }),
  },
  listCategories: { ...listCategories, reply: z.object({ categories: z.array(z.unknown()).max(MAX_CATEGORIES) }) },
  getChangelog: { ...getChangelog, reply: readChangelog },
  getApplicationChangelog: { ...getApplicationChangelog, reply: readChangelog },
  listPublishers: { ...listPublishers, reply: z.object({ publishers: z.array(z.unknown()).max(MAX_PUBLISHERS) }) },
  /** The request only counts a download; its reply is not used. */
  getTemplate: { ...getTemplate, reply: z.object({}) },
  /** The same for an application. */
  getApplication: { ...getApplication, reply: z.object({}) },
};
export type ReadUpdates = z.output<typeof hubReaderEndpoints.listTemplateUpdates.reply>;
export type ReadApplicationUpdates = z.output<typeof hubReaderEndpoints.listApplicationUpdates.reply>;

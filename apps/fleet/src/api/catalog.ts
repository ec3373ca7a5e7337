import { type Application, type Category, fold, offsetOf, paginationOf, type Template } from '@svc/contract';
import { fleetEndpoints, MAX_NETWORK_TYPES_LISTED, type TemplateTrust } from '@svc/contract/fleet';
import { containing } from '@svc/database';
import { createTurnQueue, notFound, replyWithPage } from '@svc/http';
import { requireWritableAuditLog } from '../audit/gate.ts';
import { readSyncState } from '../catalog/sync-state.ts';
import { applications, type Mirror, objectsWithWords, templates } from '../catalog/words.ts';
import type { Database } from '../database/client.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { callerKey } from '../identity/principal.ts';
import { type RequestContext, route } from './request/context.ts';
import { largeReadsOf } from './request/pages.ts';

interface Query extends Filters {
  readonly page: number;
  readonly limit: number;
  readonly view: View;
  readonly q?: string | undefined;
}

/** A page of a part of the mirror: the sizes of its objects by their ids, and the number of objects on all pages. */
async function pageOf(database: Database, mirror: Mirror, query: Query) {
  const { source, order } = query.q
    ? rankedBy(mirror, await objectsWithWords(database, mirror, query.q))
    : { source: Prisma.sql`${mirror.table} t`, order: Prisma.sql`sort_name, id` };
  const matching = Prisma.sql`FROM ${source} WHERE true ${filters(query)}`;
  // A single statement reads one snapshot, so the total matches the page. It is also returned for a
  // page past the end.
  const rows = await database.client.$queryRaw<{ total: number; key: string | null; bytes: number }[]>`
      SELECT counted.total, page.id AS key, page.bytes
      FROM (SELECT count(*)::int AS total ${matching}) counted
      LEFT JOIN LATERAL (
        SELECT id, ${bytesIn(query.view)} AS bytes, row_number() OVER (ORDER BY ${order}) AS place ${matching}
        ORDER BY ${order} LIMIT ${query.limit} OFFSET ${offsetOf(query)}
      ) page ON true
      ORDER BY page.place`;
  return {
    sizes: rows.flatMap(({ key, bytes }) => (key === null ? [] : [{ key, bytes }])),
    pagination: paginationOf(query, rows[0]?.total ?? 0),
  };
}

/** The objects of a mirror with ids, in the order of the ids. */
async function readObjects<T>(
  { client }: Database,
  mirror: Mirror,
  { ids, view }: { ids: readonly string[]; view: View },
) {
  const rows = await client.$queryRaw<Row<T>[]>`
    SELECT ${documentIn(view)} AS document, ${isStale(mirror)} AS stale, ${mirror.trust} AS trust FROM ${mirror.table} t
    WHERE id = ANY (${[...ids]}::uuid[]) ORDER BY array_position(${[...ids]}::uuid[], id)`;
  return rows.map(presented);
}

interface Row<T> {
  readonly document: T;
  readonly stale: boolean;
  readonly trust: TemplateTrust | null;
}

const presented = <T>({ document, stale, trust }: Row<T>) => ({ ...document, stale, trust });

/** @throws 404 */
async function readBySlug<T>({ client }: Database, mirror: Mirror, slug: string) {
  const [row] = await client.$queryRaw<Row<T>[]>`
      SELECT document, ${isStale(mirror)} AS stale, ${mirror.trust} AS trust FROM ${mirror.table} t
      WHERE slug = ${slug} ORDER BY updated_at DESC, id LIMIT 1`;
  if (!row) throw notFound();
  return presented(row);
}

export const listMirroredTemplates = route(fleetEndpoints.listMirroredTemplates, async (context, { query }) => {
  const { database } = context;
  const { sizes, pagination } = await pageOf(database, templates, query);
  return replyWithPage(largeReadsOf(context), {
    sizes,
    read: (ids) => readObjects<Template>(database, templates, { ids, view: query.view }),
    element: fleetEndpoints.listMirroredTemplates.reply.shape.templates.element,
    compose: (found) => ({ templates: found, pagination }),
  });
});

export const getMirroredTemplate = route(fleetEndpoints.getMirroredTemplate, ({ database }, { params }) =>
  readBySlug<Template>(database, templates, params.slug),
);

export const listMirroredApplications = route(fleetEndpoints.listMirroredApplications, async (context, { query }) => {
  const { database } = context;
  const { sizes, pagination } = await pageOf(database, applications, query);
  return replyWithPage(largeReadsOf(context), {
    sizes,
    read: (ids) => readObjects<Application>(database, applications, { ids, view: query.view }),
    element: fleetEndpoints.listMirroredApplications.reply.shape.applications.element,
    compose: (found) => ({ applications: found, pagination }),
  });
});

export const getMirroredApplication = route(fleetEndpoints.getMirroredApplication, ({ database }, { params }) =>
  readBySlug<Application>(database, applications, params.slug),
);

type View = 'full' | 'summary';

/** The objects with ids, the one with the highest rank first. */
const rankedBy = ({ table }: Mirror, ranks: ReadonlyMap<string, number>) => ({
  source: Prisma.sql`${table} t JOIN unnest(${[...ranks.keys()]}::uuid[], ${[...ranks.values()]}::float8[])
    AS ranks (object_id, rank) ON ranks.object_id = t.id`,
  order: Prisma.sql`rank DESC, sort_name, id`,
});

/** The document of an object. Only the full view contains its long members. */
const documentIn = (view: View) =>
  view === 'full' ? Prisma.sql`document` : Prisma.sql`summary || '{"files": []}'::jsonb`;

/** The size of a document in a view. */
const bytesIn = (view: View) => (view === 'full' ? Prisma.sql`document_bytes` : Prisma.sql`summary_bytes`);

/** Whether the hub has sent a newer version of an object `t` that this fleet cannot read. */
const isStale = (mirror: Mirror) =>
  mirror === templates
    ? Prisma.sql`EXISTS (SELECT FROM catalog_skipped s WHERE s.kind = 'template' AND s.entry_id = t.id)`
    : Prisma.sql`EXISTS (SELECT FROM catalog_cursors s
        WHERE s.kind = 'application' AND s.skipped @> jsonb_build_array(jsonb_build_object('id', t.id)))`;

interface Filters {
  readonly category?: string | undefined;
  readonly search?: string | undefined;
  readonly featured?: boolean | undefined;
  readonly tags?: readonly string[] | undefined;
}

// Delete after 0.2: the search for `tags` as they are given. Version 0.1.0 stored them as they are
// written, until the full walk after the upgrade.
function filters({ category, search = '', featured, tags = [] }: Filters): Prisma.Sql {
  return Prisma.sql`
    ${category === undefined ? Prisma.empty : Prisma.sql`AND category_slug = ${category}`}
    ${search === '' ? Prisma.empty : Prisma.sql`AND search_text LIKE ${containing(search)}`}
    ${featured ? Prisma.sql`AND is_featured` : Prisma.empty}
    ${tags.length === 0 ? Prisma.empty : Prisma.sql`AND tags && ${[...tags.map(fold), ...tags]}::text[]`}`;
}

export const listMirroredCategories = route(fleetEndpoints.listMirroredCategories, async ({ database }) => {
  const rows = await database.client.$queryRaw<{ document: Category; template_count: number }[]>`
      SELECT document,
             (SELECT count(*)::int FROM catalog_templates t WHERE t.category_id = c.id) AS template_count
      FROM catalog_categories c ORDER BY sort_order, sort_name, id`;
  return { categories: rows.map(({ document, template_count }) => ({ ...document, template_count })) };
});

export const listNetworkTypes = route(fleetEndpoints.listNetworkTypes, async ({ database }) => {
  const rows = await database.client.$queryRaw<{ total: number; name: string | null; template_count: number }[]>`
      SELECT counted.total, required.name, required.template_count
      FROM (SELECT count(*)::int AS total FROM catalog_templates) counted
      LEFT JOIN LATERAL (
        SELECT type AS name, count(DISTINCT t.id)::int AS template_count
        FROM catalog_templates t, jsonb_array_elements_text(t.summary->'required_network_types') type
        GROUP BY type ORDER BY 2 DESC, 1 LIMIT ${MAX_NETWORK_TYPES_LISTED}
      ) required ON true
      ORDER BY required.template_count DESC, required.name`;
  return {
    template_count: rows[0]?.total ?? 0,
    network_types: rows.flatMap(({ name, template_count }) => (name === null ? [] : [{ name, template_count }])),
  };
});

export const getSyncState = route(fleetEndpoints.getSyncState, (context) => currentSyncState(context));

/**
 * A sync has transactions of its own, so the request is refused before the hub is called if the
 * audit log is not writable.
 */
export const syncCatalog = route(fleetEndpoints.syncCatalog, async (context, { body }) => {
  context.recording.isRequired = true;
  await requireWritableAuditLog(context.database);
  await context.sync.run({ ...body, requestId: context.requestId });
  return currentSyncState(context);
});

/** The imports of a process: each has its whole file in memory. */
const imports = createTurnQueue({ what: 'imports of bundles', running: 1, waitingPerCaller: 1, waitMs: 30_000 });

/** As a sync, an import has transactions of its own. */
export const importBundle = route(fleetEndpoints.importBundle, async (context, { query, body }) => {
  context.recording.isRequired = true;
  await requireWritableAuditLog(context.database);
  await imports.run(callerKey(context.principal), () => context.sync.importBundle(body, query));
  return currentSyncState(context);
});

const currentSyncState = async ({ database, settings }: RequestContext) => {
  const { url, api_key } = await settings.hub();
  return readSyncState(database, api_key === undefined ? undefined : (url ?? undefined));
};

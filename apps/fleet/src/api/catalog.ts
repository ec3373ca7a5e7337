import { type Category, fold, offsetOf, paginationOf, type Template } from '@svc/contract';
import { fleetEndpoints, MAX_NETWORK_TYPES_LISTED, type TemplateTrust } from '@svc/contract/fleet';
import { containing } from '@svc/database';
import { createTurnQueue, notFound, replyWithPage } from '@svc/http';
import { requireWritableAuditLog } from '../audit/gate.ts';
import { readSyncState } from '../catalog/sync-state.ts';
import { templateTrust } from '../catalog/verdicts.ts';
import { templatesWithWords } from '../catalog/words.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { callerKey } from '../identity/principal.ts';
import { type RequestContext, route } from './request/context.ts';
import { largeReadsOf } from './request/pages.ts';

export const listMirroredTemplates = route(fleetEndpoints.listMirroredTemplates, async (context, { query }) => {
  const { database } = context;
  const { source, order } = query.q ? rankedBy(await templatesWithWords(database, query.q)) : byName;
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
  return replyWithPage(largeReadsOf(context), {
    sizes: rows.flatMap(({ key, bytes }) => (key === null ? [] : [{ key, bytes }])),
    read: (ids) => readTemplates(context, ids, query.view),
    element: fleetEndpoints.listMirroredTemplates.reply.shape.templates.element,
    compose: (templates) => ({ templates, pagination: paginationOf(query, rows[0]?.total ?? 0) }),
  });
});

async function readTemplates({ database }: RequestContext, ids: readonly string[], view: View) {
  const rows = await database.client.$queryRaw<Row[]>`
    SELECT ${documentIn(view)} AS document, ${isStale} AS stale, ${templateTrust} AS trust FROM catalog_templates t
    WHERE id = ANY (${ids}::uuid[]) ORDER BY array_position(${ids}::uuid[], id)`;
  return rows.map(presentTemplate);
}

interface Row {
  readonly document: Template;
  readonly stale: boolean;
  readonly trust: TemplateTrust | null;
}

const presentTemplate = ({ document, stale, trust }: Row) => ({ ...document, stale, trust });

type View = 'full' | 'summary';

export const getMirroredTemplate = route(fleetEndpoints.getMirroredTemplate, async ({ database }, { params }) => {
  const [row] = await database.client.$queryRaw<Row[]>`
      SELECT document, ${isStale} AS stale, ${templateTrust} AS trust FROM catalog_templates t WHERE slug = ${params.slug} ORDER BY updated_at DESC, id LIMIT 1`;
  if (!row) throw notFound();
  return presentTemplate(row);
});

/** The templates in the order of lists. */
const byName = { source: Prisma.sql`catalog_templates t`, order: Prisma.sql`sort_name, id` };

/** The templates with ids, the one with the highest rank first. */
const rankedBy = (ranks: ReadonlyMap<string, number>) => ({
  source: Prisma.sql`catalog_templates t JOIN unnest(${[...ranks.keys()]}::uuid[], ${[...ranks.values()]}::float8[])
    AS ranks (template_id, rank) ON ranks.template_id = t.id`,
  order: Prisma.sql`rank DESC, sort_name, id`,
});

/** The document of a template. Only the full view contains its documentation. */
const documentIn = (view: View) => (view === 'full' ? Prisma.sql`document` : Prisma.sql`summary`);

/** The size of a document in a view. */
const bytesIn = (view: View) => (view === 'full' ? Prisma.sql`document_bytes` : Prisma.sql`summary_bytes`);

/** Whether the hub has sent a newer version of a template `t` that this fleet cannot read. */
const isStale = Prisma.sql`EXISTS (SELECT FROM catalog_skipped s WHERE s.kind = 'template' AND s.entry_id = t.id)`;

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

import { offsetOf, paginationOf } from '@svc/contract';
import { hubEndpoints } from '@svc/contract/hub';
import { containing } from '@svc/database';
import { notFound } from '@svc/http';
import { route } from '../context.ts';
import type { Database } from '../database/client.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { Viewer } from '../principal.ts';
import { hasAnyTag } from './tags.ts';
import { type TemplateRow, templateColumns, templateSources, visibleTemplates } from './visibility.ts';

export const listTemplates = route(hubEndpoints.listTemplates, async ({ database, viewer }, { query }) => {
  const rows = await database.client.$queryRaw<PageRow[]>(pageOfTemplates(viewer, query));
  const templates = rows.filter((row): row is { total: number } & TemplateRow => row.id !== null);
  return { templates, pagination: paginationOf(query, rows[0]?.total ?? 0) };
});

export const getTemplate = route(hubEndpoints.getTemplate, async (context, { params }) => {
  const { database, viewer, principal, headOnly } = context;
  const [template] = await database.client.$queryRaw<TemplateRow[]>(templateBySlug(viewer, params.slug));
  if (!template) throw notFound();
  if (principal.kind !== 'organization' || headOnly) return template;
  return { ...template, download_count: await countDownload(database, template) };
});

type PageRow = { total: number } & (TemplateRow | { id: null });

/** Reads a page and the total in one statement, and so in one snapshot. A page past the end has the total, too. */
export function pageOfTemplates(viewer: Viewer, query: Filters & Paging): Prisma.Sql {
  const matching = Prisma.sql`FROM ${templateSources} WHERE ${visibleTemplates(viewer)} ${filters(query)}`;
  return Prisma.sql`
    SELECT counted.total, page.*
    FROM (SELECT count(*)::int AS total ${matching}) counted
    LEFT JOIN LATERAL (
      SELECT ${templateColumns}, t.sort_name ${matching}
      ORDER BY t.sort_name, t.id LIMIT ${query.limit} OFFSET ${offsetOf(query)}
    ) page ON true
    ORDER BY page.sort_name, page.id`;
}

export const templateBySlug = (viewer: Viewer, slug: string): Prisma.Sql => Prisma.sql`
  SELECT ${templateColumns} FROM ${templateSources} WHERE t.slug = ${slug} AND ${visibleTemplates(viewer)}`;

/** Counts a download in a separate table. The template does not change, so clients do not sync it again. */
async function countDownload({ client }: Database, { id, download_count }: TemplateRow): Promise<number> {
  const [row] = await client.$queryRaw<{ count: number }[]>`
      INSERT INTO template_downloads AS d (template_id, count)
      SELECT id, 1 FROM templates WHERE id = ${id}::uuid
      ON CONFLICT (template_id) DO UPDATE SET count = d.count + 1
      RETURNING count::int`;
  return row?.count ?? download_count;
}

interface Paging {
  readonly page: number;
  readonly limit: number;
}

interface Filters {
  readonly category?: string | undefined;
  readonly search?: string | undefined;
  readonly featured?: boolean | undefined;
  readonly tags?: readonly string[] | undefined;
}

function filters({ category, search = '', featured, tags = [] }: Filters): Prisma.Sql {
  return Prisma.sql`
    ${category === undefined ? Prisma.empty : Prisma.sql`AND c.slug = ${category}`}
    ${search === '' ? Prisma.empty : Prisma.sql`AND t.search_text LIKE ${containing(search)}`}
    ${featured ? Prisma.sql`AND t.is_featured` : Prisma.empty}
    ${tags.length === 0 ? Prisma.empty : Prisma.sql`AND ${hasAnyTag(tags)}`}`;
}

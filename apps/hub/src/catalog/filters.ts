import { offsetOf } from '@svc/contract';
import { containing } from '@svc/database';
import { Prisma } from '../generated/prisma/client.ts';
import type { Viewer } from '../identity/principal.ts';
import { newestCommit } from '../revision/revision.ts';
import { hasAnyTag } from './tags.ts';
import { templateSources, visibleTemplates } from './visibility.ts';

export interface Paging {
  readonly page: number;
  readonly limit: number;
}

export interface Filters {
  readonly category?: string | undefined;
  readonly search?: string | undefined;
  /** Words, which only the catalog in memory can find. */
  readonly q?: string | undefined;
  readonly featured?: boolean | undefined;
  readonly tags?: readonly string[] | undefined;
}

/**
 * The ids of a page, the total and the newest commit in one statement, and so in one snapshot. A
 * page past the end has one row, without an id.
 */
export function idsOfPage(viewer: Viewer, query: Omit<Filters, 'q'> & Paging): Prisma.Sql {
  const matching = Prisma.sql`FROM ${templateSources} WHERE ${visibleTemplates(viewer)} ${conditions(query)}`;
  return Prisma.sql`
    SELECT (SELECT commit FROM ${newestCommit} n) AS commit, counted.total, page.id
    FROM (SELECT count(*)::int AS total ${matching}) counted
    LEFT JOIN LATERAL (
      SELECT t.id, t.sort_name ${matching}
      ORDER BY t.sort_name, t.id LIMIT ${query.limit} OFFSET ${offsetOf(query)}
    ) page ON true
    ORDER BY page.sort_name, page.id`;
}

/** The filters of the contents of templates. Only the database can evaluate them. */
export type ContentFilters = Pick<Filters, 'search' | 'featured' | 'tags'>;

export const hasContentFilters = ({ search = '', featured = false, tags = [] }: ContentFilters): boolean =>
  search !== '' || featured || tags.length > 0;

export const hasWords = ({ q = '' }: Filters): boolean => q !== '';

export interface MatchingRow {
  readonly commit: string;
  /** The ids, separated by commas. */
  readonly ids: string;
}

interface Bounds {
  /** Only templates with these ids. */
  readonly among?: readonly string[] | undefined;
  readonly limit: number;
}

/**
 * The ids of the templates that match, in the order of lists, and the newest commit in the same
 * snapshot.
 */
export const matchingTemplates = (filters: ContentFilters, { among, limit }: Bounds): Prisma.Sql => Prisma.sql`
  SELECT (SELECT commit FROM ${newestCommit} n) AS commit, array_to_string(ARRAY(
    SELECT t.id FROM templates t
    WHERE ${among ? Prisma.sql`t.id = ANY (${[...among]}::uuid[])` : Prisma.sql`true`} ${matches(filters)}
    ORDER BY t.sort_name, t.id LIMIT ${limit}), ',') AS ids`;

const conditions = ({ category, ...filters }: Omit<Filters, 'q'>): Prisma.Sql => Prisma.sql`
  ${category === undefined ? Prisma.empty : Prisma.sql`AND c.slug = ${category}`} ${matches(filters)}`;

const matches = ({ search = '', featured, tags = [] }: ContentFilters): Prisma.Sql => Prisma.sql`
  ${search === '' ? Prisma.empty : Prisma.sql`AND t.search_text LIKE ${containing(search)}`}
  ${featured ? Prisma.sql`AND t.is_featured` : Prisma.empty}
  ${tags.length === 0 ? Prisma.empty : Prisma.sql`AND ${hasAnyTag(tags)}`}`;

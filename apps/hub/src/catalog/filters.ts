import { offsetOf } from '@svc/contract';
import { containing } from '@svc/database';
import { Prisma } from '../generated/prisma/client.ts';
import type { Viewer } from '../identity/principal.ts';
import { newestCommit } from '../revision/revision.ts';
import type { Kind } from './kinds.ts';
import type { TemplateOrder } from './memory/order.ts';
import { hasAnyTag } from './tags.ts';
import { visibleObjects } from './visibility.ts';

export interface Paging {
  readonly page: number;
  readonly limit: number;
}

export interface Filters extends EntryFilters {
  readonly search?: string | undefined;
  /** Words, which only the catalog in memory can find. */
  readonly q?: string | undefined;
  readonly featured?: boolean | undefined;
  readonly tags?: readonly string[] | undefined;
}

/** The filters that the catalog in memory evaluates. An empty list admits all templates. */
export interface EntryFilters {
  /** The slugs of categories. */
  readonly category?: readonly string[] | undefined;
  readonly kind?: readonly string[] | undefined;
  readonly tier?: readonly string[] | undefined;
  readonly gpu?: boolean | undefined;
}

/** The columns of an order of lists, in rows with an alias. */
const ORDER_BY: Readonly<Record<TemplateOrder, (alias: string) => Prisma.Sql>> = {
  name: (alias) => Prisma.raw(`${alias}.sort_name, ${alias}.id`),
  '-created_at': (alias) => Prisma.raw(`${alias}.created_at DESC, ${alias}.id`),
  '-download_count': (alias) => Prisma.raw(`${alias}.downloads DESC, ${alias}.sort_name, ${alias}.id`),
};

/** The number of downloads, by which rows are sorted. */
const downloadsOf = ({ downloads, id }: Kind) => Prisma.sql`,
  coalesce((SELECT d.count FROM ${downloads} d WHERE d.${id} = t.id), 0) AS downloads`;

/**
 * The ids of a page, the total and the newest commit in one statement, and so in one snapshot. A
 * page past the end has one row, without an id.
 */
export function idsOfPage(
  kind: Kind,
  viewer: Viewer,
  query: Omit<Filters, 'q'> &
    Paging & { readonly sort?: TemplateOrder | undefined; readonly owner?: string | undefined },
): Prisma.Sql {
  const { sort = 'name', owner } = query;
  const owned = owner === undefined ? Prisma.empty : Prisma.sql`AND t.owner_org_id = ${owner}::uuid`;
  const orderBy = ORDER_BY[sort];
  const matching = Prisma.sql`FROM ${kind.sources} WHERE ${visibleObjects(viewer)} ${owned} ${conditions(kind, query)}`;
  return Prisma.sql`
    SELECT (SELECT commit FROM ${newestCommit} n) AS commit, counted.total, page.id
    FROM (SELECT count(*)::int AS total ${matching}) counted
    LEFT JOIN LATERAL (
      SELECT m.* FROM (
        SELECT t.id, t.sort_name, t.created_at ${sort === '-download_count' ? downloadsOf(kind) : Prisma.empty} ${matching}
      ) m
      ORDER BY ${orderBy('m')} LIMIT ${query.limit} OFFSET ${offsetOf(query)}
    ) page ON true
    ORDER BY ${orderBy('page')}`;
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
  /** Only objects with these ids. */
  readonly among?: readonly string[] | undefined;
  readonly limit: number;
}

/**
 * The ids of the objects that match, in the order of lists, and the newest commit in the same
 * snapshot.
 */
export const matchingObjects = (
  { table }: Kind,
  filters: ContentFilters,
  { among, limit }: Bounds,
): Prisma.Sql => Prisma.sql`
  SELECT (SELECT commit FROM ${newestCommit} n) AS commit, array_to_string(ARRAY(
    SELECT t.id FROM ${table} t
    WHERE ${among ? Prisma.sql`t.id = ANY (${[...among]}::uuid[])` : Prisma.sql`true`} ${matches(filters)}
    ORDER BY t.sort_name, t.id LIMIT ${limit}), ',') AS ids`;

const conditions = (
  { kindOf, hasGpu }: Kind,
  { category = [], kind = [], tier = [], gpu, ...filters }: Omit<Filters, 'q'>,
): Prisma.Sql => Prisma.sql`
  ${category.length === 0 ? Prisma.empty : Prisma.sql`AND c.slug = ANY (${[...category]}::text[])`}
  ${kind.length === 0 ? Prisma.empty : Prisma.sql`AND ${kindOf} = ANY (${[...kind]}::text[])`}
  ${tier.length === 0 ? Prisma.empty : Prisma.sql`AND t.min_tier = ANY (${[...tier]}::text[])`}
  ${gpu === undefined ? Prisma.empty : gpu ? Prisma.sql`AND ${hasGpu}` : Prisma.sql`AND NOT ${hasGpu}`}
  ${matches(filters)}`;

const matches = ({ search = '', featured, tags = [] }: ContentFilters): Prisma.Sql => Prisma.sql`
  ${search === '' ? Prisma.empty : Prisma.sql`AND t.search_text LIKE ${containing(search)}`}
  ${featured ? Prisma.sql`AND t.is_featured` : Prisma.empty}
  ${tags.length === 0 ? Prisma.empty : Prisma.sql`AND ${hasAnyTag(tags)}`}`;

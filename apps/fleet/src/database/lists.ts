import { offsetOf, paginationOf } from '@svc/contract';
import { MAX_PART_BYTES, type Sized } from '@svc/http';
import { Prisma } from '../generated/prisma/client.ts';

/** The validated query of a list. All parameters except these are filters. */
export interface ListQuery {
  readonly page: number;
  readonly limit: number;
  readonly sort: string;
  readonly view?: 'full' | 'summary' | undefined;
}

type FilterName<Q extends ListQuery> = Exclude<keyof Q, keyof ListQuery>;
type SortField<Q extends ListQuery> = Exclude<Q['sort'], `-${string}`>;

/** How a list implements the filters and sort fields that its endpoint declares. */
export interface ListRules<Q extends ListQuery> {
  /** The condition of each filter on a row `r`. */
  readonly filters: { readonly [N in FilterName<Q>]-?: (value: NonNullable<Q[N]>) => Prisma.Sql };
  readonly sorts: { readonly [F in SortField<Q>]: Sort };
}

/** The sort key of a row `r`, in a direction. */
export type Sort = (direction: Prisma.Sql) => Prisma.Sql;

/** Sorts by a column without nulls. */
export const by =
  (column: Prisma.Sql): Sort =>
  (direction) =>
    Prisma.sql`${column} ${direction}`;

/** Sorts by a column with nulls, which are last in both directions. */
export const byNullable =
  (column: Prisma.Sql): Sort =>
  (direction) =>
    Prisma.sql`${column} ${direction} NULLS LAST`;

/** Whether a column of text has one of the values. */
export const isOneOf =
  (column: Prisma.Sql) =>
  (values: readonly string[]): Prisma.Sql =>
    Prisma.sql`${column} = ANY(${values}::text[])`;

/** Whether a column of ids has one of the values. */
export const isOneId =
  (column: Prisma.Sql) =>
  (ids: readonly string[]): Prisma.Sql =>
    Prisma.sql`${column} = ANY(${ids}::uuid[])`;

/** Whether a column has exactly this text. */
export const isText =
  (column: Prisma.Sql) =>
  (text: string): Prisma.Sql =>
    Prisma.sql`${column} = ${text}`;

/** The rows of a list. */
interface Listed {
  /** The table or view of the rows `r`, which have an `id`. */
  readonly table: Prisma.Sql;
  /** Joins that only `columns` need. They add and remove no rows. */
  readonly joins?: Prisma.Sql | undefined;
  readonly columns: Prisma.Sql;
  /** A condition of all rows of the list. */
  readonly always?: Prisma.Sql;
  /** The bytes of a row `r` that its columns read, if a row can be large. They cost little to find out. */
  readonly bytes?: Prisma.Sql | undefined;
  /** The bytes that a response contains of them. Default: all. */
  readonly shownBytes?: Prisma.Sql | undefined;
}

export interface List<Q extends ListQuery> extends Listed {
  readonly rules: ListRules<Q>;
}

type Reader = Pick<Prisma.TransactionClient, '$queryRaw'>;

/** Reads the rows of a list with these ids, as a page has them. The rows are not validated. */
export const readListed = (
  reader: Reader,
  { table, joins = Prisma.empty, columns, always = ALL }: Listed,
  ids: readonly string[],
): Promise<unknown[]> =>
  reader.$queryRaw<unknown[]>`
    SELECT ${columns} FROM ${table} r ${joins} WHERE r.id = ANY(${ids}::uuid[]) AND ${always}`;

const ALL = Prisma.sql`true`;

/**
 * The statement that reads a page of a list with the number of all matching rows, in one snapshot.
 * A page beyond the end is one row with `total` and no `row_id`. The columns are computed only for
 * the rows of the page, and only if the page is not large. Otherwise, all of them are null.
 */
export function pageOf<Q extends ListQuery>(list: List<Q>, query: Q): Prisma.Sql {
  const { table, joins = Prisma.empty, columns, always = ALL, rules } = list;
  const { bytes = Prisma.sql`0`, shownBytes = bytes } = list;
  const conditions = [always, ...conditionsOf(rules, query)];
  const matching = Prisma.sql`${table} r WHERE ${Prisma.join(conditions, ' AND ')}`;
  return Prisma.sql`
    SELECT counted.total, sized.row_id, sized.row_bytes, sized.shown_bytes, page.*
    FROM (SELECT count(*)::int AS total FROM ${matching}) counted
    LEFT JOIN (
      SELECT ids.row_id, ids.place, ${bytes} AS row_bytes, ${shownBytes} AS shown_bytes, sum(${bytes}) OVER () AS page_bytes
      FROM unnest(ARRAY(SELECT r.id FROM ${matching} ORDER BY ${orderOf(rules, query.sort)}, r.id
                        LIMIT ${query.limit} OFFSET ${offsetOf(query)})) WITH ORDINALITY ids(row_id, place)
      JOIN ${table} r ON r.id = ids.row_id
    ) sized ON true
    LEFT JOIN LATERAL (
      SELECT ${columns} FROM ${table} r ${joins}
      WHERE r.id = sized.row_id AND sized.page_bytes <= ${MAX_PART_BYTES}::int
    ) page ON true ORDER BY sized.place`;
}

/**
 * Reads a page of a list. The rows are not validated. A page of more than MAX_PART_BYTES has no
 * `rows`: its rows are read in parts, by the keys of `sizes`, their ids.
 */
export async function readSizedPage<Q extends ListQuery>(reader: Reader, list: List<Q>, query: Q) {
  const read = await reader.$queryRaw<
    { row_id: string | null; id: string | null; row_bytes: number; shown_bytes: number; total: number }[]
  >(pageOf(list, query));
  const sizes = read.flatMap(({ row_id: key, row_bytes: bytes, shown_bytes: shown }): Sized<string>[] =>
    key === null ? [] : [{ key, bytes, shown }],
  );
  const rows = read.filter(({ id }) => id !== null);
  const isLarge = rows.length < sizes.length;
  return { sizes, rows: isLarge ? undefined : rows, pagination: paginationOf(query, read[0]?.total ?? 0) };
}

/** Reads a page of a list whose rows are small. The rows are not validated. */
export async function readPage<Q extends ListQuery>(reader: Reader, list: Omit<List<Q>, 'bytes'>, query: Q) {
  const { rows = [], pagination } = await readSizedPage(reader, list, query);
  return { rows, pagination };
}

function conditionsOf<Q extends ListQuery>(rules: ListRules<Q>, query: Q): Prisma.Sql[] {
  const names = Object.keys(rules.filters) as FilterName<Q>[]; // the keys of the record
  return names.flatMap((name) => conditionOf(rules, name, query[name]));
}

const conditionOf = <Q extends ListQuery, N extends FilterName<Q>>(
  { filters }: ListRules<Q>,
  name: N,
  value: Q[N],
): Prisma.Sql[] => (value === undefined || value === null ? [] : [filters[name](value)]);

function orderOf<Q extends ListQuery>({ sorts }: ListRules<Q>, sort: string): Prisma.Sql {
  const descending = sort.startsWith('-');
  // `sort` is a field or `-` and a field.
  const field = (descending ? sort.slice(1) : sort) as SortField<Q>;
  return sorts[field](descending ? Prisma.sql`DESC` : Prisma.sql`ASC`);
}

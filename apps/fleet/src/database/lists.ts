import { offsetOf, paginationOf } from '@svc/contract';
import { Prisma } from '../generated/prisma/client.ts';

/** The validated query of a list. All parameters except these are filters. */
export interface ListQuery {
  readonly page: number;
  readonly limit: number;
  readonly sort: string;
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
 * A page beyond the end is one row with `total` and no `id`. The columns are computed only for the
 * rows of the page.
 */
export function pageOf<Q extends ListQuery>(
  { table, joins = Prisma.empty, columns, always = ALL, rules }: List<Q>,
  query: Q,
): Prisma.Sql {
  const conditions = [always, ...conditionsOf(rules, query)];
  const matching = Prisma.sql`${table} r WHERE ${Prisma.join(conditions, ' AND ')}`;
  return Prisma.sql`
    SELECT counted.total, page.* FROM (SELECT count(*)::int AS total FROM ${matching}) counted
    LEFT JOIN (
      SELECT ids.place, ${columns}
      FROM unnest(ARRAY(SELECT r.id FROM ${matching} ORDER BY ${orderOf(rules, query.sort)}, r.id
                        LIMIT ${query.limit} OFFSET ${offsetOf(query)})) WITH ORDINALITY ids(row_id, place)
      JOIN ${table} r ON r.id = ids.row_id ${joins}
    ) page ON true ORDER BY page.place`;
}

/** Reads a page of a list. The rows are not validated. */
export async function readPage<Q extends ListQuery>(reader: Reader, list: List<Q>, query: Q) {
  const rows = await reader.$queryRaw<{ id: string | null; total: number }[]>(pageOf(list, query));
  return { rows: rows.filter(({ id }) => id !== null), pagination: paginationOf(query, rows[0]?.total ?? 0) };
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

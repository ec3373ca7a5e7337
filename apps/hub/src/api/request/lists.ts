import { completePagination, DEFAULT_PAGE_SIZE, offsetOf, paginationOf } from '@svc/contract';
import { type Streamed, streamedReply } from '@svc/http';
import type { z } from 'zod';
import type { Database } from '../../database/client.ts';
import { Prisma } from '../../generated/prisma/client.ts';

// All lists of rows are read here: a page of a list, or the complete list in parts. The catalog
// has lists in memory instead, and the audit log has cursors, because its pages must not shift.

/** The maximum number of rows of a part. */
export const PART_ROWS = 500;

/** Rows of a list: `take` rows after the first `skip` rows that follow `after`. */
export interface Range<Key> {
  /**
   * A row, of which only the columns of the sort order are used. Undefined at the start of the
   * list.
   */
  readonly after: Key | undefined;
  readonly skip: number;
  readonly take: number;
}

/** The number of rows, or a query of it. */
type Total = number | readonly { readonly total: number }[];

interface PagedList<Member extends string, Row, Item> {
  /** The member of the reply that contains the list. */
  readonly member: Member;
  /** Reads rows in the sort order. */
  readonly rows: (range: Range<never>) => Prisma.PrismaPromise<Row[]>;
  readonly total: () => Prisma.PrismaPromise<Total>;
  readonly present: (row: Row) => Item;
}

/**
 * A part of a complete list. `next` is the last row before the next part; undefined if there is
 * none.
 */
interface Part<Item, Key> {
  readonly items: readonly Item[];
  readonly next: Key | undefined;
}

type ReadPart<Item, Key> = (after: Key | undefined) => Promise<Part<Item, Key>>;

interface List<Member extends string, Key, Row extends Key, Schema extends z.ZodType>
  extends PagedList<Member, Row, z.input<Schema>> {
  /** The schema of an item. */
  readonly schema: Schema;
  readonly rows: (range: Range<Key>) => Prisma.PrismaPromise<Row[]>;
}

interface CompleteList<Member extends string, Key, Schema extends z.ZodType> {
  readonly member: Member;
  /** The schema of an item. */
  readonly schema: Schema;
  readonly readPart: ReadPart<z.input<Schema>, Key>;
}

type Client = Pick<Database['client'], '$transaction'>;

type ListReply<Member extends string, Item> = Record<Member, Item[]> & {
  readonly pagination: ReturnType<typeof paginationOf>;
};

interface PageQuery {
  readonly page: number;
  readonly limit: number;
}

/** Reads a page of a list and the number of all rows, in one snapshot. */
export async function readPage<const Member extends string, Row, Item>(
  client: Client,
  query: PageQuery,
  { member, rows, total, present }: PagedList<Member, Row, Item>,
): Promise<ListReply<Member, Item>> {
  const range = { after: undefined, skip: offsetOf(query), take: query.limit };
  const [found, counted] = await client.$transaction([rows(range), total()], { isolationLevel: 'RepeatableRead' });
  const count = typeof counted === 'number' ? counted : (counted[0]?.total ?? 0);
  return replyOf(member, found.map(present), paginationOf(query, count));
}

interface OptionalPageQuery {
  readonly page?: number | undefined;
  readonly limit?: number | undefined;
}

/**
 * Reads a page, or the complete list if the query has neither `page` nor `limit`. The complete list
 * is read in parts, so that a request needs memory for one part only. A list with one part is
 * returned. A longer list is streamed, and each item validated; an error closes the connection, so
 * that the JSON is incomplete. Rows that change meanwhile are in the list as they are when their
 * part is read. A part and the relations of its rows are read in one snapshot.
 */
export async function readList<const Member extends string, Key, Row extends Key, Schema extends z.ZodType>(
  client: Client,
  query: OptionalPageQuery,
  list: List<Member, Key, Row, Schema>,
): Promise<ListReply<Member, z.input<Schema>> | Streamed> {
  if (!isComplete(query)) return readPage(client, pageOf(query), list);
  return readComplete({ ...list, readPart: partsOf(client, list) });
}

/** As `readList`, for the complete list. */
export async function readComplete<const Member extends string, Key, Schema extends z.ZodType>(
  list: CompleteList<Member, Key, Schema>,
): Promise<ListReply<Member, z.input<Schema>> | Streamed> {
  const { readPart } = list;
  const first = await readPart(undefined);
  if (first.next !== undefined) {
    return streamedReply('application/json; charset=utf-8', jsonOf(list, first, readPart));
  }
  return replyOf(list.member, [...first.items], completePagination(first.items.length));
}

/** The reply for a caller who has no list. */
export const emptyList = <const Member extends string>(
  member: Member,
  query: OptionalPageQuery,
): ListReply<Member, never> =>
  replyOf(member, [], isComplete(query) ? completePagination(0) : paginationOf(pageOf(query), 0));

export const isComplete = ({ page, limit }: OptionalPageQuery): boolean => page === undefined && limit === undefined;

export const pageOf = ({ page = 1, limit = DEFAULT_PAGE_SIZE }: OptionalPageQuery): PageQuery => ({ page, limit });

const replyOf = <Member extends string, Item>(
  member: Member,
  items: Item[],
  pagination: ReturnType<typeof paginationOf>,
) =>
  // The type of a computed key is any string.
  ({ [member]: items, pagination }) as ListReply<Member, Item>;

const partsOf =
  <Key, Row extends Key, Schema extends z.ZodType>(
    client: Client,
    { rows, present }: Pick<List<string, Key, Row, Schema>, 'rows' | 'present'>,
  ): ReadPart<z.input<Schema>, Key> =>
  async (after) => {
    const [found] = await client.$transaction([rows({ after, skip: 0, take: PART_ROWS })], {
      isolationLevel: 'RepeatableRead',
    });
    return { items: found.map(present), next: found.length < PART_ROWS ? undefined : found.at(-1) };
  };

async function* jsonOf<Schema extends z.ZodType, Key>(
  { member, schema }: { readonly member: string; readonly schema: Schema },
  first: Part<z.input<Schema>, Key>,
  readPart: ReadPart<z.input<Schema>, Key>,
): AsyncGenerator<string> {
  let total = 0;
  const format = (item: z.input<Schema>) => `${total++ === 0 ? '' : ','}${JSON.stringify(schema.parse(item))}`;
  yield `{${JSON.stringify(member)}:[`;
  let part: Part<z.input<Schema>, Key> | undefined = first;
  while (part) {
    yield part.items.map(format).join('');
    part = part.next === undefined ? undefined : await readPart(part.next);
  }
  yield `],"pagination":${JSON.stringify(completePagination(total))}}`;
}

/** The columns of a sort order with their directions, as Prisma expects them in `orderBy`. */
type Order<Column extends string> = readonly { readonly [C in Column]?: 'asc' | 'desc' | undefined }[];

/** The newest rows first. */
export const NEWEST_FIRST = [{ created_at: 'desc' as const }, { id: 'asc' as const }];

/** The columns of `NEWEST_FIRST`. */
export interface Created {
  readonly created_at: Date | string;
  readonly id: string;
}

/**
 * The end of a query in SQL of the newest rows first: it continues the WHERE clause, and sorts and
 * limits the rows of the table with the alias.
 */
export function newestRows(alias: string, { after, skip, take }: Range<Created>): Prisma.Sql {
  const created_at = Prisma.raw(`${alias}.created_at`);
  const id = Prisma.raw(`${alias}.id`);
  const isAfter =
    after === undefined
      ? Prisma.empty
      : Prisma.sql`
          AND ${created_at} <= ${after.created_at}
          AND (${created_at} < ${after.created_at} OR ${id} > ${after.id}::uuid)`;
  return Prisma.sql`${isAfter} ORDER BY ${created_at} DESC, ${id} LIMIT ${take} OFFSET ${skip}`;
}

/** A Prisma filter of the rows after a row. */
export function rowsAfter<Row extends object>(row: Row | undefined, order: Order<keyof Row & string>): object {
  if (!row) return {};
  // `Object.entries` loses the types of the columns and directions.
  const columns = order.flatMap((each) => Object.entries(each) as [keyof Row & string, 'asc' | 'desc'][]);
  const [leading] = columns;
  if (leading === undefined) throw new Error('the order has no column');
  const [column, direction] = leading;
  return {
    // The bound of the leading column lets PostgreSQL start at the row in an index.
    [column]: { [direction === 'desc' ? 'lte' : 'gte']: row[column] },
    OR: columns.map((_, index) => firstDifference(row, columns.slice(0, index + 1))),
  };
}

/**
 * A filter of the rows that equal a row in all columns but the last, and follow it in the last one.
 */
function firstDifference<Row extends object>(
  row: Row,
  columns: readonly (readonly [keyof Row & string, 'asc' | 'desc'])[],
): object {
  const conditions = columns.map(([column, direction], index) => {
    const isLast = index === columns.length - 1;
    return [column, isLast ? { [direction === 'desc' ? 'lt' : 'gt']: row[column] } : row[column]];
  });
  return Object.fromEntries(conditions);
}

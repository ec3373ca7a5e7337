import { completePagination } from '@svc/contract';
import { type Streamed, streamedReply } from '@svc/http';
import type { z } from 'zod';

/** A part of a list. `next` is the last row before the next part; undefined if there is none. */
interface Part<Item, Key> {
  readonly items: readonly Item[];
  readonly next: Key | undefined;
}

interface CompleteList<Schema extends z.ZodType, Key> {
  /** The member of the response that contains the list. */
  readonly member: string;
  readonly schema: Schema;
  readonly read: (after: Key | undefined) => Promise<Part<z.input<Schema>, Key>>;
}

/** The maximum number of rows of a part. */
export const PART_ROWS = 500;

/**
 * Reads a list without paging in parts, so that a request needs memory for one part only. A list with one part is
 * returned. A longer list is streamed, and each item validated; an error closes the connection, so that the JSON is
 * incomplete. Rows that change meanwhile are in the list as they are when their part is read. `read` uses one snapshot for
 * a part and the relations of its rows.
 */
export async function readComplete<Schema extends z.ZodType, Key>(
  list: CompleteList<Schema, Key>,
): Promise<readonly z.input<Schema>[] | Streamed> {
  const first = await list.read(undefined);
  return first.next === undefined ? first.items : streamedReply('application/json; charset=utf-8', jsonOf(list, first));
}

async function* jsonOf<Schema extends z.ZodType, Key>(
  { member, schema, read }: CompleteList<Schema, Key>,
  first: Part<z.input<Schema>, Key>,
): AsyncGenerator<string> {
  let total = 0;
  const format = (item: z.input<Schema>) => `${total++ === 0 ? '' : ','}${JSON.stringify(schema.parse(item))}`;
  yield `{${JSON.stringify(member)}:[`;
  let part: Part<z.input<Schema>, Key> | undefined = first;
  while (part) {
    yield part.items.map(format).join('');
    part = part.next === undefined ? undefined : await read(part.next);
  }
  yield `],"pagination":${JSON.stringify(completePagination(total))}}`;
}

/** A part of rows that were read with the limit `PART_ROWS`. */
export const partOf = <Row, Item>(rows: readonly Row[], present: (row: Row) => Item): Part<Item, Row> => ({
  items: rows.map(present),
  next: rows.length < PART_ROWS ? undefined : rows.at(-1),
});

/** A Prisma filter of the rows after a row. `order` has the columns of the sort order. */
export function rowsAfter<Row extends object>(
  row: Row | undefined,
  order: Readonly<Partial<Record<keyof Row, 'asc' | 'desc'>>>,
): object {
  if (!row) return {};
  const columns = Object.keys(order) as (keyof Row)[]; // the keys of `order`
  const beyond = (column: keyof Row) => ({ [column]: { [order[column] === 'desc' ? 'lt' : 'gt']: row[column] } });
  const equal = (equals: readonly (keyof Row)[]) => Object.fromEntries(equals.map((column) => [column, row[column]]));
  const [leading] = columns;
  if (leading === undefined) throw new Error('the order has no column');
  return {
    // The bound of the leading column lets PostgreSQL start at the row in an index.
    [leading]: { [order[leading] === 'desc' ? 'lte' : 'gte']: row[leading] },
    OR: columns.map((column, index) => ({ ...equal(columns.slice(0, index)), ...beyond(column) })),
  };
}

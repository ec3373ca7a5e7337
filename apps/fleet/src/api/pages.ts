import { setImmediate } from 'node:timers/promises';
import type { pagination } from '@svc/contract';
import { createBodyEtag, type Rendered, renderedReply } from '@svc/http';
import type { z } from 'zod';
import { type ListQuery, type ListRules, MAX_READ_BYTES, type Sized } from '../database/lists.ts';
import { callerKey } from '../identity/principal.ts';
import { type Kind, listRows, type ResourceRow, readRows } from '../resources/kind.ts';
import type { RequestContext } from './context.ts';

type PageContext = Pick<RequestContext, 'pageQueue' | 'principal' | 'refuseLargeRead'>;

/** A page of a list whose rows can be large. */
interface Page<Key, Item, Reply> {
  /** The rows of the page. */
  readonly sizes: readonly Sized<Key>[];
  /** The items of a small page, if they were read with the sizes. */
  readonly items?: Item[] | undefined;
  /** Reads the items of these rows. A row that was deleted meanwhile has none. */
  readonly read: (keys: readonly Key[]) => Promise<Item[]>;
  /** The schema of an item in the reply. */
  readonly element: z.ZodType<unknown, Item>;
  readonly compose: (items: Item[]) => Reply;
}

/**
 * The reply with a page. A large page waits for its turn, is read and rendered in parts of at most
 * MAX_READ_BYTES, or of one row, and other work of the process runs between them. Its weight in the
 * queue are its bytes, so that large pages of one caller wait behind smaller ones of others.
 * @throws 413 if the caller cannot receive so much at once, 503
 */
export async function replyWithPage<Key, Item, Reply>(
  { pageQueue, principal, refuseLargeRead }: PageContext,
  page: Page<Key, Item, Reply>,
): Promise<Reply | Rendered> {
  const { sizes, items, read, compose } = page;
  const total = sumOf(sizes.map(({ bytes }) => bytes));
  refuseLargeRead?.(sumOf(sizes.map(({ bytes, shown = bytes }) => shown)));
  if (items) return compose(items);
  if (total <= MAX_READ_BYTES) return compose(await read(sizes.map(({ key }) => key)));
  return pageQueue.run(callerKey(principal), () => renderInParts(page), total);
}

const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0);

async function renderInParts<Key, Item, Reply>({ sizes, read, element, compose }: Page<Key, Item, Reply>) {
  const body: Buffer[] = [];
  const tag = createBodyEtag();
  const add = (text: string) => {
    const part = Buffer.from(text);
    tag.add(part);
    body.push(part);
  };
  // The only array of a reply without items is that of the items.
  const [start = '', end = ''] = JSON.stringify(compose([])).split('[]');
  let separator = '[';
  add(start);
  for (const keys of partsOf(sizes)) {
    for (const item of await read(keys)) {
      add(`${separator}${JSON.stringify(element.parse(item))}`);
      separator = ',';
    }
    await setImmediate();
  }
  add(`${separator === '[' ? '[' : ''}]${end}`);
  return renderedReply(Buffer.concat(body), tag.etag());
}

/** Divides rows into parts of at most MAX_READ_BYTES, or of one row. */
function partsOf<Key>(sizes: readonly Sized<Key>[]): Key[][] {
  const parts: Key[][] = [];
  let room = 0;
  for (const { key, bytes } of sizes) {
    if (bytes > room) {
      parts.push([]);
      room = MAX_READ_BYTES;
    }
    parts.at(-1)?.push(key);
    room -= bytes;
  }
  return parts;
}

type Pagination = z.input<typeof pagination>;

/** A list of resources of a kind. */
interface ResourceList<Row extends ResourceRow, Q extends ListQuery, Item, Reply> {
  readonly kind: Kind<Row>;
  readonly rules: ListRules<Q>;
  readonly present: (row: Row) => Item;
  readonly element: z.ZodType<unknown, Item>;
  readonly compose: (items: Item[], pagination: Pagination) => Reply;
}

/** The reply with a page of resources. @throws 413, 503 */
export async function replyWithResources<Row extends ResourceRow, Q extends ListQuery, Item, Reply>(
  context: PageContext & Pick<RequestContext, 'database'>,
  { kind, rules, present, element, compose }: ResourceList<Row, Q, Item, Reply>,
  query: Q,
): Promise<Reply | Rendered> {
  const { client } = context.database;
  const { sizes, rows, pagination } = await listRows(client, kind, rules, query);
  return replyWithPage(context, {
    sizes,
    items: rows?.map(present),
    read: async (ids) => {
      const read = new Map((await readRows(client, kind, ids)).map((row) => [row.id, row]));
      return ids.flatMap((id) => read.get(id) ?? []).map(present);
    },
    element,
    compose: (items) => compose(items, pagination),
  });
}

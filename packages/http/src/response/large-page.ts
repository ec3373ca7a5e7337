import { setImmediate } from 'node:timers/promises';
import type { z } from 'zod';
import { createBodyEtag } from './etag.ts';
import { type Rendered, type RenderedParts, renderedInParts } from './special-reply.ts';

/** The bytes that a request reads at once, unless a single row is larger. */
export const MAX_PART_BYTES = 512 * 1024;

/** The size of a row of a page. */
export interface Sized<Key> {
  /** Identifies the row. */
  readonly key: Key;
  /** The bytes that are read of it. */
  readonly bytes: number;
  /** The bytes that a response contains of them. Default: all. */
  readonly shown?: number;
}

/** How the caller of a page reads many bytes. */
export interface LargeReads {
  /**
   * Runs work when it is the turn of the caller. The weight of the work in the queue are its bytes,
   * so that large pages of one caller wait behind smaller ones of others. @throws 503
   */
  readonly inTurn: <T>(work: () => Promise<T>, bytes: number) => Promise<T>;
  /**
   * Refuses to read more bytes than the caller can receive. Undefined: any number. @throws 413
   */
  readonly refuse?: ((bytes: number) => void) | undefined;
}

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
 * MAX_PART_BYTES, or of one row, and other work of the process runs between them.
 * @throws 413 if the caller cannot receive so much at once, 503
 */
export async function replyWithPage<Key, Item, Reply>(
  { inTurn, refuse }: LargeReads,
  page: Page<Key, Item, Reply>,
): Promise<Reply | Rendered | RenderedParts> {
  const { sizes, items, read, compose } = page;
  const total = bytesOf(sizes);
  refuse?.(sizes.reduce((sum, { bytes, shown = bytes }) => sum + shown, 0));
  if (items) return compose(items);
  if (total <= MAX_PART_BYTES) return compose(await read(sizes.map(({ key }) => key)));
  return inTurn(() => renderInParts(page), total);
}

export const bytesOf = (sizes: readonly Sized<unknown>[]): number => sizes.reduce((sum, { bytes }) => sum + bytes, 0);

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
  let separator = '';
  add(`${start}[`);
  for (const keys of partsOf(sizes)) {
    for (const item of await read(keys)) {
      add(`${separator}${JSON.stringify(element.parse(item))}`);
      separator = ',';
    }
    await setImmediate();
  }
  add(`]${end}`);
  return renderedInParts(body, tag.etag());
}

/** Divides rows into parts of at most MAX_PART_BYTES, or of one row. @returns their keys */
export function partsOf<Key>(sizes: readonly Sized<Key>[]): Key[][] {
  const parts: Key[][] = [];
  let room = 0;
  for (const { key, bytes } of sizes) {
    if (bytes > room) {
      parts.push([]);
      room = MAX_PART_BYTES;
    }
    parts.at(-1)?.push(key);
    room -= bytes;
  }
  return parts;
}

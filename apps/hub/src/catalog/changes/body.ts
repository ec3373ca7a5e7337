import { type Cursor, writeCursor } from '@svc/contract';
import type { Kind } from '../kinds.ts';
import { type Document, elementsOf } from '../memory/documents.ts';

/** What a response contains beside its templates. */
export interface Rest {
  readonly removed: readonly { readonly id: string }[];
  readonly checked_at: Date;
  readonly cursor: Cursor;
  readonly reset: boolean;
  readonly has_more: boolean;
}

/** The body of a response that is not streamed. */
export function renderUpdates({ member, updates }: Kind, documents: readonly Document[], rest: Rest): Buffer {
  const start = `{"${member}":[`;
  const empty = { ...rest, [member]: [], removed: [...rest.removed], cursor: writeCursor(rest.cursor) };
  const json = JSON.stringify(updates.parse(empty));
  return Buffer.concat([Buffer.from(start), ...elementsOf(documents), Buffer.from(json.slice(start.length))]);
}

import { type Cursor, writeCursor } from '@svc/contract';
import { hubEndpoints } from '@svc/contract/hub';
import { type Document, elementsOf } from '../memory/documents.ts';

/** What a response contains beside its templates. */
export interface Rest {
  readonly removed: readonly { readonly id: string }[];
  readonly checked_at: Date;
  readonly cursor: Cursor;
  readonly reset: boolean;
  readonly has_more: boolean;
}

const START = '{"templates":[';

/** The body of a response that is not streamed. */
export function renderUpdates(documents: readonly Document[], rest: Rest): Buffer {
  const empty = { ...rest, templates: [], removed: [...rest.removed], cursor: writeCursor(rest.cursor) };
  const json = JSON.stringify(hubEndpoints.listTemplateUpdates.reply.parse(empty));
  return Buffer.concat([Buffer.from(START), ...elementsOf(documents), Buffer.from(json.slice(START.length))]);
}

import { z } from 'zod';
import { documentedAs } from './openapi-schema.ts';
import { parseTimestamp } from './timestamp.ts';
import { uuid } from './wire.ts';

const cursorTime = z.string().transform((text, context) => {
  const at = parseTimestamp(text);
  if (at) return at;
  context.addIssue({ code: 'custom', message: 'must be a timestamp' });
  return z.NEVER;
});

/**
 * A position in the history of the catalog: after all changes up to a stamp, or within one stamp
 * after an id.
 */
const position = z.strictObject({ at: cursorTime, after: uuid.optional() });

/**
 * The content of a cursor. Only the hub writes and reads cursors. The content is neither secret nor
 * trusted.
 */
const cursor = z.strictObject({
  v: z.literal(1),
  /** The viewer of the walk. */
  of: z.string().max(64),
  /** The newest commit in the snapshot of the last response. */
  seen: z.strictObject({ at: cursorTime, commit: uuid }),
  /** The start of a full walk; absent after its end. */
  began: cursorTime.optional(),
  /** The last id that was listed, while a full walk lists all templates. */
  listed: uuid.optional(),
  /** The position up to which changes were sent. */
  position,
  /** The `checked_at` of the pages before the last one of a walk. */
  checked: cursorTime,
});
export type Cursor = z.output<typeof cursor>;

/** Encodes a cursor for a URL. */
export const writeCursor = (given: Cursor): string => Buffer.from(JSON.stringify(given)).toString('base64url');

const START = 'start';

/** A cursor in a request. `start` begins a full walk. */
export const cursorInput = z
  .string()
  .transform((text, context) => {
    if (text === START) return START;
    const read = cursor.safeParse(jsonOf(text));
    if (read.success) return read.data;
    context.addIssue({ code: 'custom', message: 'must be `start`, or the unchanged cursor of the last response' });
    return z.NEVER;
  })
  .meta({ ...documentedAs({ type: 'string' }), description: '`start`, and then the `cursor` of the last response' });

const MAX_LENGTH = 1000;

function jsonOf(text: string): unknown {
  if (text.length > MAX_LENGTH || !/^[\w-]+$/.test(text)) return undefined;
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    return undefined; // matches no cursor
  }
}

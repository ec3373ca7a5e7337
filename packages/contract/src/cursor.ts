import { z } from 'zod';
import { shownAs } from './shown.ts';
import { parseTimestamp } from './timestamp.ts';
import { uuid } from './wire.ts';

const moment = z.string().transform((text, context) => {
  const at = parseTimestamp(text);
  if (at) return at;
  context.addIssue({ code: 'custom', message: 'must be a timestamp' });
  return z.NEVER;
});

/** A place in the catalog's history: after everything up to a stamp, or within what one stamp brought, after an id. */
const position = z.strictObject({ at: moment, after: uuid.optional() });

/** What a cursor says. The hub alone makes and reads them; nothing in it is secret or trusted. */
const cursor = z.strictObject({
  v: z.literal(1),
  /** Whom the answers were for. */
  of: z.string().max(64),
  /** The newest commit in the snapshot of the last answer. */
  seen: z.strictObject({ at: moment, commit: uuid }),
  /** Where a full walk began; until its end. */
  began: moment.optional(),
  /** While a full walk lists what there is: the id that it got to. */
  listed: uuid.optional(),
  /** Up to where changes were sent. */
  position,
  /** The `checked_at` of the pages before the last one of a walk. */
  checked: moment,
});
export type Cursor = z.output<typeof cursor>;

/** As a caller is given it: text that is safe in an address. */
export const writeCursor = (given: Cursor): string => Buffer.from(JSON.stringify(given)).toString('base64url');

const START = 'start';

/** A cursor as a caller gives it back; `start` begins a full walk. */
export const cursorInput = z
  .string()
  .transform((text, context) => {
    if (text === START) return START;
    const read = cursor.safeParse(jsonOf(text));
    if (read.success) return read.data;
    context.addIssue({ code: 'custom', message: 'must be `start`, or the cursor of the last answer as it was given' });
    return z.NEVER;
  })
  .meta({ ...shownAs({ type: 'string' }), description: '`start`, then the `cursor` of the last answer' });

const MAX_LENGTH = 1000;

function jsonOf(text: string): unknown {
  if (text.length > MAX_LENGTH || !/^[\w-]+$/.test(text)) return undefined;
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    return undefined; // fits no cursor
  }
}

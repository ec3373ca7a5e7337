import { z } from 'zod';
import { documentedAs } from './openapi-schema.ts';
import { timestampInput } from './timestamp.ts';
import { uuid } from './wire.ts';

/** A position in an audit log: the next page starts with the entry after this one. */
export const auditCursor = z.string().transform((text, context) => {
  const [at, id] = Buffer.from(text, 'base64url').toString().split('|');
  const read = z.object({ at: timestampInput, id: uuid }).safeParse({ at, id });
  if (read.success && /^[\w-]{1,200}$/.test(text)) return read.data;
  context.addIssue({ code: 'custom', message: 'must be the next_cursor of the last response' });
  return z.NEVER;
});

export const writeAuditCursor = ({ at, id }: { readonly at: Date; readonly id: string }): string =>
  Buffer.from(`${at.toISOString()}|${id}`).toString('base64url');

/**
 * A position in the order in which entries were recorded: an export continues with the entry after it.
 * `seq` is the number of an entry; entries of earlier versions have 0, and are ordered by `at` and `id`.
 */
export interface AuditPosition {
  readonly seq: bigint;
  readonly at: Date;
  readonly id: string;
}

const START = 'start';
const BEFORE_ALL: AuditPosition = { seq: 0n, at: new Date(0), id: '00000000-0000-0000-0000-000000000000' };
const number = z
  .string()
  .regex(/^\d{1,18}$/)
  .transform(BigInt);

/** A position in a request. */
export const auditPosition = z
  .string()
  .transform((text, context): AuditPosition => {
    if (text === START) return BEFORE_ALL;
    const [seq, at, id] = Buffer.from(text, 'base64url').toString().split('|');
    const read = z.object({ seq: number, at: timestampInput, id: uuid }).safeParse({ seq, at, id });
    if (read.success && /^[\w-]{1,200}$/.test(text)) return read.data;
    context.addIssue({ code: 'custom', message: 'must be `start`, or the unchanged cursor of an entry' });
    return z.NEVER;
  })
  .meta({
    ...documentedAs({ type: 'string' }),
    description:
      'Export the entries after this position, in the order in which they were recorded: `start`, and then the `cursor` of the last entry that the caller has stored. Entries that are recorded later are never before it',
  });

export const writeAuditPosition = ({ seq, at, id }: AuditPosition): string =>
  Buffer.from(`${seq}|${at.toISOString()}|${id}`).toString('base64url');

/** The member of an exported entry that contains its position. */
export const exportedPosition = z
  .string()
  .optional()
  .meta({ description: 'The position of the entry, if the request has a `cursor`' });

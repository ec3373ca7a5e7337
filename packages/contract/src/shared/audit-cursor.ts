import { z } from 'zod';
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

import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { timestamp, timestampInput } from './timestamp.ts';
import { line, uuid, wholeNumber } from './wire.ts';

const entry = z
  .object({
    id: z.string(),
    at: timestamp,
    token_id: z.string().nullable(),
    user_id: z.string().nullable(),
    actor: z.string().meta({ description: 'Who it was, as they were called then' }),
    method: z.string(),
    path: z.string().meta({ description: 'Without the query' }),
    status: z.int(),
    aborted: z.boolean().meta({ description: 'The caller was gone before the answer' }),
    request_id: z.string(),
  })
  .meta({ id: 'AuditEntry' });

const filters = {
  token_id: uuid.optional(),
  actor: line(400).optional(),
  method: line(20)
    .transform((method) => method.toUpperCase())
    .optional(),
  path: line(2000).optional().meta({ description: 'Paths that begin with this' }),
  status: wholeNumber(100, 599).optional(),
  from: timestampInput.optional().meta({ description: 'At this moment or later' }),
  to: timestampInput.optional().meta({ description: 'Before this moment' }),
};

/** A place in the log: entries older than the one that it names come next. */
const place = z.string().transform((text, context) => {
  const [at, id] = Buffer.from(text, 'base64url').toString().split('|');
  const read = z.object({ at: timestampInput, id: uuid }).safeParse({ at, id });
  if (read.success && /^[\w-]{1,200}$/.test(text)) return read.data;
  context.addIssue({ code: 'custom', message: 'must be the next_cursor of the last answer' });
  return z.NEVER;
});

export const writeAuditCursor = ({ at, id }: { readonly at: Date; readonly id: string }): string =>
  Buffer.from(`${at.toISOString()}|${id}`).toString('base64url');

/** The log of what tokens asked for, and of what people did. */
export const fleetAuditEndpoints = {
  listAuditEntries: endpoint({
    operationId: 'listAuditEntries',
    method: 'get',
    path: '/api/v1/audit',
    access: 'audit',
    tag: 'audit',
    summary: 'Read the log, newest first',
    query: z.strictObject({
      ...filters,
      cursor: place.optional().meta({ type: 'string', description: 'The `next_cursor` of the last answer' }),
      limit: wholeNumber(1, 1000).default(100),
    }),
    reply: z.object({ entries: z.array(entry), next_cursor: z.string().nullable() }),
  }),
  exportAuditEntries: endpoint({
    operationId: 'exportAuditEntries',
    method: 'get',
    path: '/api/v1/audit/export',
    access: 'audit',
    tag: 'audit',
    summary: 'The log as lines of JSON, newest first',
    query: z.strictObject(filters),
    stream: 'application/x-ndjson',
    reply: entry,
  }),
};

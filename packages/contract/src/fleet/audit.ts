import { z } from 'zod';
import { auditCursor, auditPosition, exportedPosition } from '../shared/audit-cursor.ts';
import { endpoint } from '../shared/endpoint.ts';
import { timestamp, timestampInput } from '../shared/timestamp.ts';
import { flag, id, line, queryInteger, uuid } from '../shared/wire.ts';

export const auditEntry = z
  .object({
    id,
    at: timestamp,
    token_id: id.nullable(),
    user_id: id.nullable(),
    actor: z.string().meta({
      description:
        'Name of the caller at the time of the request. For a failed sign-in: the account, or `unknown account` if it does not exist',
    }),
    method: z.string(),
    path: z.string().meta({ description: 'Path without the query' }),
    status: z.int(),
    aborted: z.boolean().meta({ description: 'The client disconnected before the response was sent' }),
    request_id: z.string(),
    source: z.string().nullable().meta({
      description: 'IP address of the caller, as the trusted proxies report it; null if it is unknown',
    }),
    tool: z.string().nullable().meta({ description: 'The MCP tool that was called; null for other requests' }),
    part: z.boolean().meta({
      description:
        'An operation that a request to the MCP endpoint performed. The entry of that request has the same `request_id`',
    }),
    object_name: z.string().nullable().meta({
      description:
        'Name of the object that was changed or deleted, at that time; of a user, the e-mail address. Null for other requests, and for entries of earlier versions',
    }),
    acknowledged: z.array(id).meta({
      description: 'The critical advisories that the request acknowledged and that applied',
    }),
  })
  .meta({ id: 'AuditEntry' });

const filters = {
  changes: flag.default(false).meta({
    description:
      'Only changes and sign-ins: without reads, plans, and the requests of agents, whose operations have entries of their own',
  }),
  token_id: uuid.optional(),
  actor: line(400).optional(),
  method: line(20)
    .transform((method) => method.toUpperCase())
    .optional(),
  path: line(2000).optional().meta({ description: 'Prefix of the path' }),
  status: queryInteger(100, 599).optional(),
  request_id: line(40).optional(),
  tool: line(64).optional().meta({ description: 'An MCP tool' }),
  from: timestampInput.optional().meta({ description: 'Entries at or after this time' }),
  to: timestampInput.optional().meta({ description: 'Entries before this time' }),
};

/** The audit log: requests with MCP tokens, sign-ins, and changes by users. */
export const fleetAuditEndpoints = {
  listAuditEntries: endpoint({
    operationId: 'listAuditEntries',
    method: 'get',
    path: '/api/v1/audit',
    access: 'audit',
    tag: 'audit',
    summary: 'List audit entries, newest first',
    query: z.strictObject({
      ...filters,
      cursor: auditCursor.optional().meta({ type: 'string', description: 'The `next_cursor` of the last response' }),
      limit: queryInteger(1, 1000).default(100),
    }),
    reply: z.object({ entries: z.array(auditEntry), next_cursor: z.string().nullable() }),
  }),
  exportAuditEntries: endpoint({
    operationId: 'exportAuditEntries',
    method: 'get',
    path: '/api/v1/audit/export',
    access: 'audit',
    tag: 'audit',
    summary:
      'Export audit entries as JSON lines, newest first, or with `cursor` in the order in which they were recorded',
    query: z.strictObject({ ...filters, cursor: auditPosition.optional() }),
    stream: 'application/x-ndjson',
    reply: auditEntry.extend({ cursor: exportedPosition }).meta({ id: 'ExportedAuditEntry' }),
  }),
};

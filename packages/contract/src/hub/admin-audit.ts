import { z } from 'zod';
import { auditCursor, auditPosition, exportedPosition } from '../shared/audit-cursor.ts';
import { endpoint } from '../shared/endpoint.ts';
import { timestamp, timestampInput } from '../shared/timestamp.ts';
import { id, line, queryInteger, uuid } from '../shared/wire.ts';

const entry = z
  .object({
    id,
    at: timestamp,
    user_id: id.nullable().meta({ description: 'null: the entry of a deletion of old entries' }),
    token_id: id.nullable().meta({
      description: 'The service token that sent the request; `user_id` and `email` are those of its owner',
    }),
    email: z.string().nullable().meta({ description: 'E-mail address of the user at the time of the request' }),
    method: z.string(),
    path: z.string().meta({ description: 'Path without the query' }),
    status: z.int(),
    request_id: z.string(),
    object_id: id.nullable().meta({
      description:
        'Id of the object that the request created, changed or deleted. For a sign-in and a sign-out: of the session',
    }),
    source: z.string().nullable().meta({
      description: 'IP address of the caller, as the trusted proxies report it; null if it is unknown',
    }),
  })
  .meta({ id: 'AuditEntry' });

const filters = {
  user_id: uuid.optional(),
  token_id: uuid.optional(),
  email: line(400).optional(),
  method: line(20)
    .transform((method) => method.toUpperCase())
    .optional(),
  path: line(2000).optional().meta({ description: 'Prefix of the path' }),
  status: queryInteger(100, 599).optional(),
  object_id: uuid.optional(),
  from: timestampInput.optional().meta({ description: 'Entries at or after this time' }),
  to: timestampInput.optional().meta({ description: 'Entries before this time' }),
};

const pageQuery = z.strictObject({
  ...filters,
  cursor: auditCursor.optional().meta({ type: 'string', description: 'The `next_cursor` of the last response' }),
  limit: queryInteger(1, 1000).default(100),
});

const entries = z.object({ entries: z.array(entry), next_cursor: z.string().nullable() });

/**
 * The audit log of the hub: changes by members of organizations and by administrators, and sign-ins to the console and sign-outs.
 */
export const hubAdminAuditEndpoints = {
  listAuditEntries: endpoint({
    operationId: 'listAuditEntries',
    method: 'get',
    path: '/api/v1/admin/audit',
    access: 'admin',
    tag: 'admin',
    summary:
      'List the audit entries of changes by administrators and members, of sign-ins and of sign-outs, newest first',
    query: pageQuery,
    reply: entries,
  }),
  exportAuditEntries: endpoint({
    operationId: 'exportAuditEntries',
    method: 'get',
    path: '/api/v1/admin/audit/export',
    access: 'admin',
    tag: 'admin',
    summary:
      'Export audit entries as JSON lines, newest first, or with `cursor` in the order in which they were recorded',
    query: z.strictObject({ ...filters, cursor: auditPosition.optional() }),
    stream: 'application/x-ndjson',
    reply: entry.extend({ cursor: exportedPosition }).meta({ id: 'ExportedAuditEntry' }),
  }),
  listAccountAuditEntries: endpoint({
    operationId: 'listAccountAuditEntries',
    method: 'get',
    path: '/api/v1/account/audit',
    access: 'account-members',
    tag: 'account',
    summary:
      'List the audit entries of changes of the caller’s organization: members, invitations, API keys. Newest first',
    query: pageQuery,
    reply: entries,
    problems: ['no_organization'],
  }),
};

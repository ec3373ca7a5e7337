import { type AuditPosition, fleetEndpoints, writeAuditCursor } from '@svc/contract/fleet';
import { endOfAuditExport } from '@svc/database';
import { jsonLines, streamedReply } from '@svc/http';
import { auditQueryOf, presentRecorded, readEntries, readRecorded } from '../../audit/entries.ts';
import type { AuditEntry } from '../../generated/prisma/client.ts';
import { route } from '../request/context.ts';

export const listAuditEntries = route(fleetEndpoints.listAuditEntries, async ({ database }, { query }) => {
  const { limit, cursor, ...filters } = query;
  const rows = await readEntries(database, { filters, after: cursor, limit: limit + 1 });
  const entries = rows.slice(0, limit);
  const last = rows.length > limit ? entries.at(-1) : undefined;
  return { entries, next_cursor: last ? writeAuditCursor(last) : null };
});

const NDJSON = 'application/x-ndjson';
const pageRows = 1000;

/** Entries that are added while the lines are sent are not part of the export. */
export const exportAuditEntries = route(fleetEndpoints.exportAuditEntries, async ({ database }, { query }) => {
  const { cursor, ...filters } = query;
  if (!cursor) {
    const readAfter = (after: AuditEntry | undefined) => readEntries(database, { filters, after, limit: pageRows });
    const present = (entry: AuditEntry) => fleetEndpoints.exportAuditEntries.reply.parse(entry);
    return streamedReply(NDJSON, jsonLines({ readAfter, pageRows, present }));
  }
  const until = await endOfAuditExport(auditQueryOf(database), cursor);
  const readAfter = (after: AuditPosition = cursor) =>
    readRecorded(database, { filters, after, until, limit: pageRows });
  return streamedReply(NDJSON, jsonLines({ readAfter, pageRows, present: presentRecorded }));
});

import { fleetEndpoints, writeAuditCursor } from '@svc/contract/fleet';
import { streamedReply } from '@svc/http';
import { type AuditFilters, readEntries } from '../audit/entries.ts';
import type { Database } from '../database/client.ts';
import { route } from './context.ts';

export const listAuditEntries = route(fleetEndpoints.listAuditEntries, async ({ database }, { query }) => {
  const { limit, cursor, ...filters } = query;
  const rows = await readEntries(database, { filters, after: cursor, limit: limit + 1 });
  const entries = rows.slice(0, limit);
  const last = rows.length > limit ? entries.at(-1) : undefined;
  return { entries, next_cursor: last ? writeAuditCursor(last) : null };
});

export const exportAuditEntries = route(fleetEndpoints.exportAuditEntries, async ({ database }, { query }) =>
  streamedReply('application/x-ndjson', linesOf(database, query)),
);

const PAGE = 1000;
const { reply: line } = fleetEndpoints.exportAuditEntries;

/**
 * Reads the log in pages, so that only one page is in memory. Entries that are added meanwhile are
 * newer and not part of the export.
 */
async function* linesOf(database: Database, filters: AuditFilters): AsyncGenerator<string> {
  let page = await readEntries(database, { filters, after: undefined, limit: PAGE });
  while (page.length > 0) {
    yield page.map((entry) => `${JSON.stringify(line.parse(entry))}\n`).join('');
    page = page.length < PAGE ? [] : await readEntries(database, { filters, after: page.at(-1), limit: PAGE });
  }
}

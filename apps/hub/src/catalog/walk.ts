import type { Cursor } from '@svc/contract';
import { Prisma } from '../generated/prisma/client.ts';
import type { Viewer } from '../principal.ts';
import { finishedCursor, isKnown, startOfFullWalk } from './cursor.ts';
import type { CatalogState } from './state.ts';
import { type TemplateRow, templateColumns, templateSources } from './template-rows.ts';
import { endedSince, touchedSince, visibleFrom, visiblePeriods, visibleTemplates } from './visibility.ts';

/** One look at the catalog, through one caller's eyes. */
interface Snapshot {
  readonly transaction: Prisma.TransactionClient;
  readonly viewer: Viewer;
  readonly state: CatalogState;
}

interface Wanted {
  readonly cursor: Cursor | 'start';
  /** Templates and removals at most. */
  readonly limit: number;
}

export interface Page {
  readonly templates: readonly TemplateRow[];
  readonly removed: readonly { readonly id: string }[];
  readonly checked_at: Date;
  readonly cursor: Cursor;
  readonly reset: boolean;
  readonly has_more: boolean;
}

/** What one page may weigh: a template may have a megabyte of documentation, and a page a thousand of them. */
const PAGE_BYTES = 8 * 1024 * 1024;

/** Something that a page names: a template with its weight, or a removal. */
interface Entry {
  readonly id: string;
  readonly at: Date;
  readonly removed: boolean;
  readonly bytes: number;
}

/**
 * The next page of a walk. A full walk lists what there is in the order of ids, without what changed since it began, and
 * goes on with the changes since then, like any other walk; each page is read in its own snapshot, and the last one
 * brings its reader up to the clock of that.
 */
export async function readPage(snapshot: Snapshot, { cursor, limit }: Wanted): Promise<Page> {
  const { transaction, viewer, state } = snapshot;
  const goesOn = cursor !== 'start' && (await isKnown(transaction, cursor, snapshot));
  const from = goesOn ? cursor : startOfFullWalk(viewer, state);
  const listed = await takeListed(snapshot, from, { limit, bytes: PAGE_BYTES });
  const changed = listed.isCut
    ? { entries: [], isCut: true }
    : await takeChanged(snapshot, from, { limit: limit - listed.entries.length, bytes: listed.bytesLeft });
  const entries = [...listed.entries, ...changed.entries];
  const has_more = listed.isCut || changed.isCut;
  const next = has_more ? advanced(from, { listed, changed }) : finishedCursor(viewer, state);
  return {
    templates: await readTemplates(snapshot, idsOf(entries, false)),
    removed: idsOf(entries, true).map((id) => ({ id })),
    checked_at: next.checked,
    cursor: { ...next, seen: state.commit },
    reset: !goesOn,
    has_more,
  };
}

const idsOf = (entries: readonly Entry[], removed: boolean) =>
  entries.filter((entry) => entry.removed === removed).map(({ id }) => id);

interface Room {
  readonly limit: number;
  readonly bytes: number;
}

interface Taken {
  readonly entries: readonly Entry[];
  /** More was there than fits. */
  readonly isCut: boolean;
}

/** Where a walk stands that goes on. */
function advanced(from: Cursor, { listed, changed }: { readonly listed: Taken; readonly changed: Taken }): Cursor {
  const { listed: _, ...rest } = from;
  if (listed.isCut) return { ...from, listed: listed.entries.at(-1)?.id ?? from.listed };
  const last = changed.entries.at(-1);
  return last ? { ...rest, position: { at: last.at, after: last.id } } : rest;
}

/** What there is and did not change since the walk began; nothing for a walk that has listed it, or is about changes only. */
async function takeListed(
  { transaction, viewer }: Snapshot,
  { began, listed }: Cursor,
  room: Room,
): Promise<Taken & { readonly bytesLeft: number }> {
  if (!began || listed === undefined) return { entries: [], isCut: false, bytesLeft: room.bytes };
  const query = listedEntries(viewer, { began, after: listed, limit: room.limit + 1 });
  return take(await transaction.$queryRaw<Entry[]>(query), room);
}

async function takeChanged({ transaction, viewer }: Snapshot, { position }: Cursor, room: Room): Promise<Taken> {
  return take(await transaction.$queryRaw<Entry[]>(changedEntries(viewer, position, room.limit + 1)), room);
}

/** As many as there is room for. The first one of a page always fits, or the walk would never end. */
function take(entries: readonly Entry[], { limit, bytes }: Room): Taken & { readonly bytesLeft: number } {
  let bytesLeft = bytes;
  let count = 0;
  for (const entry of entries.slice(0, limit)) {
    const isFirst = count === 0 && bytes === PAGE_BYTES;
    if (entry.bytes > bytesLeft && !isFirst) break;
    bytesLeft -= entry.bytes;
    count += 1;
  }
  return { entries: entries.slice(0, count), isCut: count < entries.length, bytesLeft };
}

/** The stamp of the last change of a template as a viewer sees it. */
const stampFor = (viewer: Viewer) => Prisma.sql`greatest(t.updated_at, c.shown_at, ${visibleFrom(viewer)})`;

const weight = Prisma.sql`(SELECT octet_length(t::text) FROM templates t WHERE t.id = e.id)`;

/** What a viewer sees that did not change since `began`, in the order of ids. */
export const listedEntries = (
  viewer: Viewer,
  { began, after, limit }: { readonly began: Date; readonly after: string; readonly limit: number },
): Prisma.Sql => Prisma.sql`
  SELECT e.id, e.at, false AS removed, ${weight} AS bytes FROM (
    SELECT t.id, ${stampFor(viewer)} AS at FROM ${templateSources}
    WHERE t.id > ${after}::uuid AND ${visibleTemplates(viewer)} AND ${stampFor(viewer)} <= ${began}
    ORDER BY t.id LIMIT ${limit}
  ) e ORDER BY e.id`;

/** What changed for a viewer after a position, removals included, in the order of (stamp, id). */
export function changedEntries(viewer: Viewer, { at, after }: Cursor['position'], limit: number): Prisma.Sql {
  const since = after === undefined ? at : new Date(Math.max(0, at.getTime() - 1)); // at or later: stamps have milliseconds
  const later = after === undefined ? Prisma.sql`at > ${at}` : Prisma.sql`(at, id) > (${at}, ${after}::uuid)`;
  return Prisma.sql`
    SELECT e.id, e.at, e.removed, CASE WHEN e.removed THEN 0 ELSE ${weight} END AS bytes FROM (
      SELECT * FROM (
        SELECT t.id, ${stampFor(viewer)} AS at, false AS removed FROM ${templateSources}
        WHERE ${visibleTemplates(viewer)} AND ${touchedSince(viewer, since)}
        UNION ALL
        SELECT template_id, max(until), true FROM (${visiblePeriods(viewer)}) AS periods (template_id, until)
        WHERE template_id = ANY (ARRAY(${endedSince(viewer, since)}))
        GROUP BY template_id HAVING max(until) < 'infinity'
      ) changes
      WHERE ${later} ORDER BY at, id LIMIT ${limit}
    ) e ORDER BY e.at, e.id`;
}

async function readTemplates({ transaction }: Snapshot, ids: readonly string[]): Promise<TemplateRow[]> {
  if (ids.length === 0) return [];
  return transaction.$queryRaw`
    SELECT ${templateColumns} FROM ${templateSources} JOIN unnest(${ids}::uuid[]) WITH ORDINALITY AS page (id, place)
      ON page.id = t.id
    ORDER BY page.place`;
}

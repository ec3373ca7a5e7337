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
  const listing = await takeListed(snapshot, from, { limit, bytes: PAGE_BYTES });
  const room = { limit: limit - listing.entries.length, bytes: listing.bytesLeft };
  const changes = listing.listed === undefined ? await takeChanged(snapshot, from, room) : { entries: [], isCut: true };
  const entries = [...listing.entries, ...changes.entries];
  const next = changes.isCut ? advanced(from, listing.listed, changes.entries.at(-1)) : finishedCursor(viewer, state);
  return {
    templates: await readTemplates(snapshot, idsOf(entries, false)),
    removed: idsOf(entries, true).map((id) => ({ id })),
    checked_at: next.checked,
    cursor: { ...next, seen: state.commit },
    reset: !goesOn,
    has_more: changes.isCut,
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
  readonly bytesLeft: number;
}

interface Listing extends Omit<Taken, 'isCut'> {
  /** The id that the list got to; undefined at its end. */
  readonly listed: string | undefined;
}

/** Where a walk stands that goes on: within its list, or after the last change that it sent. */
function advanced(from: Cursor, listed: string | undefined, last: Entry | undefined): Cursor {
  if (listed !== undefined) return { ...from, listed };
  const { listed: _, ...following } = from;
  return last ? { ...following, position: { at: last.at, after: last.id } } : following;
}

/** Templates that one page looks at: it costs no more however few of them its reader sees. */
const LOOKED_AT = 5000;

/** What there is and did not change since the walk began; nothing for a walk that has listed it, or is about changes only. */
async function takeListed({ transaction, viewer }: Snapshot, { began, listed }: Cursor, room: Room): Promise<Listing> {
  if (!began || listed === undefined) return { entries: [], listed: undefined, bytesLeft: room.bytes };
  const [end] = await transaction.$queryRaw<{ id: string }[]>`
    SELECT id FROM templates WHERE id > ${listed}::uuid ORDER BY id OFFSET ${LOOKED_AT - 1} LIMIT 1`;
  const range = { after: listed, upTo: end?.id };
  const query = listedEntries(viewer, { began, range, limit: room.limit + 1 });
  const { entries, isCut, bytesLeft } = take(await transaction.$queryRaw<Entry[]>(query), room);
  return { entries, bytesLeft, listed: isCut ? (entries.at(-1)?.id ?? listed) : end?.id };
}

async function takeChanged({ transaction, viewer }: Snapshot, { position }: Cursor, room: Room): Promise<Taken> {
  return take(await transaction.$queryRaw<Entry[]>(changedEntries(viewer, position, room.limit + 1)), room);
}

/** As many as there is room for. The first one of a page always fits, or the walk would never end. */
function take(entries: readonly Entry[], { limit, bytes }: Room): Taken {
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

interface ListedWish {
  readonly began: Date;
  /** Ids; without an end, to the last one. */
  readonly range: { readonly after: string; readonly upTo: string | undefined };
  readonly limit: number;
}

/** What a viewer sees that did not change since `began`, in the order of ids. */
const listedEntries = (viewer: Viewer, { began, range: { after, upTo }, limit }: ListedWish): Prisma.Sql =>
  Prisma.sql`
    SELECT t.id, t.updated_at AS at, false AS removed, t.weight AS bytes FROM ${templateSources}
    WHERE t.id > ${after}::uuid ${upTo === undefined ? Prisma.empty : Prisma.sql`AND t.id <= ${upTo}::uuid`}
      AND ${visibleTemplates(viewer)} AND ${stampFor(viewer)} <= ${began}
    ORDER BY t.id LIMIT ${limit}`;

/** What changed for a viewer after a position, removals included, in the order of (stamp, id). */
function changedEntries(viewer: Viewer, { at, after }: Cursor['position'], limit: number): Prisma.Sql {
  const since = after === undefined ? at : new Date(Math.max(0, at.getTime() - 1)); // at or later: stamps have milliseconds
  const later = after === undefined ? Prisma.sql`at > ${at}` : Prisma.sql`(at, id) > (${at}, ${after}::uuid)`;
  return Prisma.sql`
    SELECT * FROM (
      SELECT t.id, ${stampFor(viewer)} AS at, false AS removed, t.weight AS bytes FROM ${templateSources}
      WHERE ${visibleTemplates(viewer)} AND ${touchedSince(viewer, since)}
      UNION ALL
      SELECT template_id, max(until), true, 0 FROM (${visiblePeriods(viewer)}) AS periods (template_id, until)
      WHERE template_id = ANY (ARRAY(${endedSince(viewer, since)}))
      GROUP BY template_id HAVING max(until) < 'infinity'
    ) changes
    WHERE ${later} ORDER BY at, id LIMIT ${limit}`;
}

async function readTemplates({ transaction }: Snapshot, ids: readonly string[]): Promise<TemplateRow[]> {
  if (ids.length === 0) return [];
  return transaction.$queryRaw`
    SELECT ${templateColumns} FROM ${templateSources} JOIN unnest(${ids}::uuid[]) WITH ORDINALITY AS page (id, place)
      ON page.id = t.id
    ORDER BY page.place`;
}

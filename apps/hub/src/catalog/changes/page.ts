import type { Cursor } from '@svc/contract';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Viewer } from '../../identity/principal.ts';
import type { CatalogState } from '../../revision/revision.ts';
import type { Kind } from '../kinds.ts';
import { endedSince, touchedSince, visibleObjects, visiblePeriods } from '../visibility.ts';
import { renderUpdates } from './body.ts';
import { readDocuments } from './read-documents.ts';
import { finishedCursor, NO_ID, ownerOfCursor, type Snapshot, stampFor } from './state.ts';

interface PageRequest {
  readonly cursor: Cursor | 'start';
  /** Maximum number of templates and removals. */
  readonly limit: number;
}

/**
 * Maximum size of a page. A template can contain a megabyte of documentation, and a page a thousand
 * templates. A page is built in memory, so a larger one would delay the requests of other callers.
 */
const PAGE_BYTES = 2 * 1024 * 1024;

/** An entry of a page: a template with its size, or a removal. */
interface Entry {
  readonly id: string;
  readonly at: Date;
  readonly removed: boolean;
  readonly bytes: number;
}

/**
 * The next page of a walk. A full walk first lists templates in the order of their ids, without the
 * templates that changed after it started. It then sends the changes since its start, like any
 * other walk. Each page is read in its own snapshot. The last page brings the client up to the
 * clock of its snapshot.
 */
export async function readPage(snapshot: Snapshot, { cursor, limit }: PageRequest): Promise<Buffer> {
  const { documents, viewer, state } = snapshot;
  const { kind } = documents;
  const continues = cursor !== 'start' && (await isKnown(snapshot, cursor));
  const from = continues ? cursor : startOfFullWalk(kind, viewer, state);
  const listing = await selectListed(snapshot, from, { limit, bytes: PAGE_BYTES });
  const budget = { limit: limit - listing.entries.length, bytes: listing.bytesLeft };
  const changes =
    listing.listed === undefined ? await selectChanged(snapshot, from, budget) : { entries: [], isTruncated: true };
  const entries = [...listing.entries, ...changes.entries];
  const next = changes.isTruncated
    ? advanced(from, listing.listed, changes.entries.at(-1))
    : finishedCursor(kind, viewer, state);
  return renderUpdates(kind, await readDocuments(snapshot, idsOf(entries, false)), {
    removed: idsOf(entries, true).map((id) => ({ id })),
    checked_at: next.checked,
    cursor: { ...next, seen: state.commit },
    reset: !continues,
    has_more: changes.isTruncated,
  });
}

const idsOf = (entries: readonly Entry[], removed: boolean) =>
  entries.filter((entry) => entry.removed === removed).map(({ id }) => id);

interface Budget {
  readonly limit: number;
  readonly bytes: number;
}

interface Selection {
  readonly entries: readonly Entry[];
  /** Further entries did not fit. */
  readonly isTruncated: boolean;
  readonly bytesLeft: number;
}

interface Listing extends Omit<Selection, 'isTruncated'> {
  /** The last listed id; undefined at the end of the list. */
  readonly listed: string | undefined;
}

/**
 * The cursor of a walk that is not finished: inside its list, or after the last change that it
 * sent.
 */
function advanced(from: Cursor, listed: string | undefined, last: Entry | undefined): Cursor {
  if (listed !== undefined) return { ...from, listed };
  const { listed: _, ...rest } = from;
  return last ? { ...rest, position: { at: last.at, after: last.id } } : rest;
}

/**
 * Maximum number of templates that one page scans. It bounds the cost of a page if the viewer sees
 * few templates.
 */
const MAX_SCANNED = 5000;

/**
 * Templates that did not change since the walk started. Empty for a walk without a list, or after
 * the end of its list.
 */
async function selectListed(
  { reader, documents: { kind }, viewer }: Snapshot,
  { began, listed }: Cursor,
  budget: Budget,
): Promise<Listing> {
  if (!began || listed === undefined) return { entries: [], listed: undefined, bytesLeft: budget.bytes };
  const [end] = await reader.read<{ id: string }>(Prisma.sql`
    SELECT id FROM ${kind.table} WHERE id > ${listed}::uuid ORDER BY id OFFSET ${MAX_SCANNED - 1} LIMIT 1`);
  const range = { after: listed, upTo: end?.id };
  const query = listedEntries(kind, viewer, { began, range, limit: budget.limit + 1 });
  const { entries, isTruncated, bytesLeft } = selectWithin(await reader.read<Entry>(query), budget);
  return { entries, bytesLeft, listed: isTruncated ? (entries.at(-1)?.id ?? listed) : end?.id };
}

async function selectChanged(
  { reader, documents: { kind }, viewer }: Snapshot,
  { position }: Cursor,
  budget: Budget,
): Promise<Selection> {
  return selectWithin(await reader.read<Entry>(changedEntries(kind, viewer, position, budget.limit + 1)), budget);
}

/**
 * The entries that fit. The first entry of a page is always included; otherwise the walk could not
 * progress.
 */
function selectWithin(entries: readonly Entry[], { limit, bytes }: Budget): Selection {
  let bytesLeft = bytes;
  let count = 0;
  for (const entry of entries.slice(0, limit)) {
    const isFirst = count === 0 && bytes === PAGE_BYTES;
    if (entry.bytes > bytesLeft && !isFirst) break;
    bytesLeft -= entry.bytes;
    count += 1;
  }
  return { entries: entries.slice(0, count), isTruncated: count < entries.length, bytesLeft };
}

interface ListedQuery {
  readonly began: Date;
  /** A range of ids. Without `upTo`, it extends to the last id. */
  readonly range: { readonly after: string; readonly upTo: string | undefined };
  readonly limit: number;
}

/**
 * The templates that a viewer sees and that did not change since `began`, in the order of their
 * ids.
 */
const listedEntries = (kind: Kind, viewer: Viewer, { began, range: { after, upTo }, limit }: ListedQuery): Prisma.Sql =>
  Prisma.sql`
    SELECT t.id, t.updated_at AS at, false AS removed, t.weight AS bytes FROM ${kind.sources}
    WHERE t.id > ${after}::uuid ${upTo === undefined ? Prisma.empty : Prisma.sql`AND t.id <= ${upTo}::uuid`}
      AND ${visibleObjects(viewer)} AND ${stampFor(kind, viewer)} <= ${began}
    ORDER BY t.id LIMIT ${limit}`;

/** The changes and removals for a viewer after a position, in the order of (stamp, id). */
function changedEntries(kind: Kind, viewer: Viewer, { at, after }: Cursor['position'], limit: number): Prisma.Sql {
  // Includes `at`: stamps have milliseconds.
  const since = after === undefined ? at : new Date(Math.max(0, at.getTime() - 1));
  const later = after === undefined ? Prisma.sql`at > ${at}` : Prisma.sql`(at, id) > (${at}, ${after}::uuid)`;
  return Prisma.sql`
    SELECT * FROM (
      SELECT t.id, ${stampFor(kind, viewer)} AS at, false AS removed, t.weight AS bytes FROM ${kind.sources}
      WHERE ${visibleObjects(viewer)} AND ${touchedSince(viewer, since)}
      UNION ALL
      SELECT id, max(until), true, 0 FROM (${visiblePeriods(kind, viewer)}) AS periods (id, since, until)
      WHERE id = ANY (ARRAY(${endedSince(kind, viewer, since)}))
      GROUP BY id HAVING max(until) < 'infinity'
    ) changes
    WHERE ${later} ORDER BY at, id LIMIT ${limit}`;
}

/** The `checked_at` of a full walk until its last page. */
const NEVER = new Date(0);

/**
 * The first cursor of a full walk, which lists all templates and then sends the changes since its
 * start.
 */
const startOfFullWalk = (kind: Kind, viewer: Viewer, state: CatalogState): Cursor => ({
  ...finishedCursor(kind, viewer, state),
  began: state.at,
  listed: NO_ID,
  checked: NEVER,
});

/**
 * Whether a walk can continue from a cursor. It cannot if the cursor was issued to another viewer,
 * if the database does not contain the commit of the cursor, or if changes after the position of
 * the cursor were pruned.
 */
async function isKnown({ reader, documents, viewer, state: { floor } }: Snapshot, cursor: Cursor): Promise<boolean> {
  const { of, seen, began, position } = cursor;
  if (of !== ownerOfCursor(documents.kind, viewer)) return false;
  const isPruned = floor !== null && (began ? began < floor : isBelow(position, floor));
  if (isPruned) return false;
  const rows = await reader.read(Prisma.sql`
    SELECT FROM catalog_commits WHERE at = ${seen.at} AND commit = ${seen.commit}::uuid`);
  return rows.length > 0;
}

/**
 * A position with an id is inside a stamp, so it also needs the history that ended at this stamp.
 */
const isBelow = ({ at, after }: Cursor['position'], floor: Date) => (after === undefined ? at < floor : at <= floor);

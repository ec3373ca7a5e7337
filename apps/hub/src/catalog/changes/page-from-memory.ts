import { etagOfState, type HasEtag, renderedReply, unchanged } from '@svc/http';
import type { Viewer } from '../../identity/principal.ts';
import type { Revision } from '../../revision/revision.ts';
import type { CachedObjects } from '../memory/cached-catalog.ts';
import { type IndexedView, OUTDATED } from '../memory/catalog-index.ts';
import { type Entry, versionOf } from '../memory/entries.ts';
import { NO_ID, positionAfter } from '../memory/order.ts';
import { sizesOfPage } from '../memory/page-documents.ts';
import { renderUpdates } from './body.ts';
import { PAGE_BYTES, type PageRequest, selectWithin, startOfFullWalk } from './page.ts';
import { finishedCursor, ownerOfCursor } from './state.ts';

type PageReply = ReturnType<typeof renderedReply> | ReturnType<typeof unchanged>;

interface WalkRequest {
  readonly catalog: CachedObjects;
  readonly viewer: Viewer;
  /** A revision that was read after the request arrived. */
  readonly revision: Revision;
}

interface Representation {
  /** What the entity tag depends on beside the state of the catalog. */
  readonly query: unknown;
  /** Whether the client has the page already. Then no template is read. */
  readonly hasEtag: HasEtag;
}

/**
 * The next page of the list of a full walk, as `readPage` returns it, without a statement except for templates that are
 * not in memory. Undefined if what the viewer sees changed since the walk began, or if the index does not know the
 * position of the walk.
 */
export function pageFromIndex(
  request: WalkRequest,
  page: PageRequest,
  { query, hasEtag }: Representation,
): Promise<PageReply | undefined> {
  const { catalog, viewer, revision } = request;
  const { kind, documents } = catalog;
  return catalog.index.read(request, async (indexed) => {
    const from = positionIn(indexed, request, page);
    if (from === undefined) return undefined;
    const { at, commit } = indexed.state;
    const etag = etagOfState(ownerOfCursor(kind, viewer), { at, floor: revision.floor, commit }, query);
    if (hasEtag(etag)) return unchanged(etag);
    const finished = finishedCursor(kind, viewer, indexed.state);
    const visible = visibleAfter(indexed, from.listed, page.limit + 1);
    const sizes = await sizesOfPage(documents, visible.map(versionOf));
    const { entries, isTruncated } = selectWithin(sizes, { limit: page.limit, bytes: PAGE_BYTES });
    const shown = await documents.of(entries.map(({ key }) => key));
    if (!shown) return OUTDATED;
    const cursor = isTruncated ? { ...from, listed: entries.at(-1)?.key.id ?? from.listed, seen: commit } : finished;
    const rest = { removed: [], checked_at: cursor.checked, cursor, reset: page.cursor === 'start' };
    return renderedReply(renderUpdates(kind, shown, { ...rest, has_more: isTruncated }), etag);
  });
}

/** The cursor from which the list continues; undefined if the index does not know what follows it. */
function positionIn(
  { state, changedAt }: IndexedView,
  { catalog: { kind, index }, viewer, revision: { floor } }: WalkRequest,
  { cursor }: PageRequest,
) {
  if (cursor === 'start') return { ...startOfFullWalk(kind, viewer, state), listed: NO_ID };
  const { of, seen, began, listed, position } = cursor;
  if (!began || listed === undefined || of !== ownerOfCursor(kind, viewer) || !index.knows(seen)) return undefined;
  const isPruned = floor !== null && began < floor;
  // The walk sends the changes since its position after the list. There are none.
  const isUnchanged = position.after === undefined && changedAt <= position.at.getTime() && position.at <= began;
  return isPruned || !isUnchanged ? undefined : { ...cursor, listed };
}

/** The templates that a viewer sees after an id, in the order of ids, up to a number of them. */
function visibleAfter({ entries, view }: IndexedView, id: string, limit: number): readonly Entry[] {
  const ordered = entries.inOrder('id');
  const found: Entry[] = [];
  for (let at = positionAfter(ordered, id); at < ordered.length && found.length < limit; at += 1) {
    const entry = ordered[at];
    if (entry && view.sees(entry)) found.push(entry);
  }
  return found;
}

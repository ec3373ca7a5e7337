import type { Cursor } from '@svc/contract';
import { etagOfState, type Rendered, renderedReply } from '@svc/http';
import { LRUCache } from 'lru-cache';
import type { Viewer } from '../../identity/principal.ts';
import type { CatalogState, Revision } from '../../revision/revision.ts';
import type { Kind } from '../kinds.ts';
import type { CachedObjects } from '../memory/cached-catalog.ts';
import { type IndexedView, OUTDATED } from '../memory/catalog-index.ts';
import type { Document } from '../memory/documents.ts';
import { type Entry, versionOf } from '../memory/entries.ts';
import { type Rest, renderUpdates } from './body.ts';
import { finishedCursor, ownerOfCursor } from './state.ts';

/** What the response depends on beside the query. */
interface ChangesRequest {
  readonly catalog: CachedObjects;
  readonly viewer: Viewer;
  /** A revision that was read after the request arrived. */
  readonly revision: Revision;
}

interface Query {
  readonly since?: Date | undefined;
  readonly cursor?: Cursor | 'start' | undefined;
  /** The maximum number of templates of a page. */
  readonly limit?: number | undefined;
}

/** The maximum size of a response from memory. */
const MAX_TEMPLATES = 25;
const MAX_BYTES = 1024 * 1024;

/**
 * The response for a client of which the index knows what it lacks: nothing, or a few templates
 * that changed. Undefined if it may also lack a removal, or a template that became visible for
 * another reason. Beside the check of the revision, it needs no statement, except for templates
 * that no client received yet. This is the request that a hub serves most of the time.
 */
export async function updatesFromIndex(request: ChangesRequest, query: Query): Promise<Rendered | undefined> {
  const has = positionOf(query);
  if (!has || isPruned(request, has)) return undefined;
  const { catalog } = request;
  return catalog.index.read(request, async (indexed) => {
    const changes = changesAt(indexed, request, { has, query });
    if (!changes) return undefined;
    const shown = await catalog.documents.of(changes.changed.map(versionOf));
    return shown ? render(catalog.kind, shown, changes) : OUTDATED;
  });
}

/** As `updatesFromIndex` without waiting. Undefined also if it needs a statement. */
export function updatesFromMemory(request: ChangesRequest, query: Query): Rendered | undefined {
  const has = positionOf(query);
  if (!has || isPruned(request, has)) return undefined;
  const { catalog } = request;
  return catalog.index.now(request, (indexed) => {
    const changes = changesAt(indexed, request, { has, query });
    if (!changes) return undefined;
    const shown = catalog.documents.inMemory(changes.changed.map(versionOf));
    return shown && render(catalog.kind, shown, changes);
  });
}

const isPruned = ({ revision: { floor } }: ChangesRequest, { at }: Position): boolean => floor !== null && at < floor;

interface KnownChanges {
  readonly changed: readonly Entry[];
  readonly answer: Answer;
  readonly etag: string;
}

/** What a client lacks; undefined if the index does not know it. */
function changesAt(
  indexed: IndexedView,
  { catalog, viewer, revision }: ChangesRequest,
  { has, query }: { readonly has: Position; readonly query: Query },
): KnownChanges | undefined {
  const changed = changedSince(indexed, has.at.getTime());
  if (!changed || (has.cursor && changed.length > (query.limit ?? MAX_TEMPLATES))) return undefined;
  if (has.cursor && (has.cursor.of !== ownerOfCursor(catalog.kind, viewer) || !catalog.index.knows(has.cursor.seen)))
    return undefined;
  const answer = answerAt(catalog, indexed.state, viewer);
  return { changed, answer, etag: answer.etagFor(revision.floor, query) };
}

function render(kind: Kind, shown: readonly Document[], { answer, etag }: KnownChanges): Rendered | undefined {
  if (shown.length === 0) return renderedReply(answer.empty(), etag);
  const body = renderUpdates(kind, shown, answer.rest);
  return body.length <= MAX_BYTES ? renderedReply(body, etag) : undefined;
}

/**
 * The templates that a viewer sees and that changed after a stamp; undefined if these may not be
 * all changes, or are many.
 */
function changedSince({ entries, view, changedAt, leftAt }: IndexedView, at: number): readonly Entry[] | undefined {
  if (at >= changedAt) return [];
  if (at < leftAt) return undefined;
  const changed = entries.changedAfter(at)?.filter(view.sees);
  return changed && changed.length <= MAX_TEMPLATES ? changed : undefined;
}

/** The parts of responses that depend only on a viewer and a state of the catalog. */
interface Answer {
  readonly rest: Rest;
  /** The body of a response without changes. */
  readonly empty: () => string;
  readonly etagFor: (floor: Date | null, query: Query) => string;
}

interface Known {
  readonly state: CatalogState;
  readonly answer: Answer;
}

const MAX_VIEWERS = 10_000;

/** The last answer of each viewer, for the objects of each kind in memory. */
const known = new WeakMap<CachedObjects, LRUCache<string, Known>>();

function answerAt(catalog: CachedObjects, state: CatalogState, viewer: Viewer): Answer {
  const answers = known.get(catalog) ?? new LRUCache<string, Known>({ max: MAX_VIEWERS });
  known.set(catalog, answers);
  const key = ownerOfCursor(catalog.kind, viewer);
  const last = answers.get(key);
  if (last?.state === state) return last.answer;
  const answer = createAnswer(catalog.kind, state, viewer);
  answers.set(key, { state, answer });
  return answer;
}

function createAnswer(kind: Kind, state: CatalogState, viewer: Viewer): Answer {
  const { at, commit } = state;
  const rest = {
    removed: [],
    checked_at: at,
    cursor: finishedCursor(kind, viewer, state),
    reset: false,
    has_more: false,
  };
  let empty: string | undefined;
  let last: { readonly floor: Date | null; readonly query: Query; readonly etag: string } | undefined;
  return {
    rest,
    empty: () => {
      empty ??= renderUpdates(kind, [], rest).toString();
      return empty;
    },
    // Most clients of a viewer send the same query, because they received the same response before.
    // It is the same object then.
    etagFor: (floor, query) => {
      if (last?.query !== query || last.floor?.getTime() !== floor?.getTime()) {
        last = { floor, query, etag: etagOfState(ownerOfCursor(kind, viewer), { at, floor, commit }, query) };
      }
      return last.etag;
    },
  };
}

/** The time up to which a client has all changes. */
interface Position {
  readonly at: Date;
  readonly cursor?: Cursor;
}

/** The position of a client; undefined if it is inside a walk. */
function positionOf({ since, cursor }: Query): Position | undefined {
  if (since) return { at: since };
  if (cursor === undefined || cursor === 'start') return undefined;
  const { began, listed, position } = cursor;
  return began || listed !== undefined || position.after !== undefined ? undefined : { at: position.at, cursor };
}

import { DEFAULT_UPDATES } from '@svc/contract';
import { etagOfState, notFound, type Rendered, renderedReply, unchanged } from '@svc/http';
import { updatesFromIndex } from '../../catalog/changes/from-memory.ts';
import { readPage } from '../../catalog/changes/page.ts';
import { changesSince, LargeChanges, readAtOnce, streamChanges } from '../../catalog/changes/since.ts';
import { ownerOfCursor, readState } from '../../catalog/changes/state.ts';
import type { CachedObjects } from '../../catalog/memory/cached-catalog.ts';
import { type IndexedView, OUTDATED } from '../../catalog/memory/catalog-index.ts';
import { type Document, jsonOf } from '../../catalog/memory/documents.ts';
import { type Entry, versionOf } from '../../catalog/memory/entries.ts';
import { callerKey } from '../../identity/principal.ts';
import type { Revision } from '../../revision/revision.ts';
import type { MemoryContext, RequestContext } from './context.ts';

// The reads of the catalog that are the same for each kind of objects.

type UpdatesQuery = Parameters<typeof updatesFromIndex>[1];

/**
 * The changes for the caller: all changes since a time, or a page of changes after a cursor. They
 * are read in one snapshot, except for a response to `since` that is so large that it is streamed.
 * If the catalog is unchanged and the caller has the entity tag, no object is read.
 */
export async function readUpdates(context: RequestContext, objects: CachedObjects, query: UpdatesQuery) {
  const { database, viewer, principal, address, hasEtag, pageQueue, changeQueue } = context;
  const { kind, documents } = objects;
  const { since, cursor, limit = DEFAULT_UPDATES } = query;
  const fromIndex = await updatesFromIndex({ catalog: objects, viewer, revision: await context.revision() }, query);
  if (fromIndex) return fromIndex;
  const readInSnapshot = () =>
    database.reader.inSnapshot(async (reader) => {
      const state = await readState(reader);
      const etag = etagOfState(ownerOfCursor(kind, viewer), state, query);
      if (hasEtag(etag)) return unchanged(etag);
      const snapshot = { reader, documents, viewer, state };
      if (!since) return renderedReply(await readPage(snapshot, { cursor: cursor ?? 'start', limit }), etag);
      const changes = changesSince(snapshot, since);
      const body = await readAtOnce(snapshot, changes);
      return body ? renderedReply(body, etag) : new LargeChanges(changes, etag);
    });
  const queue = since ? changeQueue : pageQueue;
  const read = await queue.run(callerKey(principal, address), readInSnapshot);
  return read instanceof LargeChanges ? streamChanges({ ...context, documents }, read) : read;
}

/** The object with a slug, from memory. @throws 404 */
export function objectInMemory(
  context: MemoryContext,
  objects: CachedObjects,
  { revision, slug }: { readonly revision: Revision; readonly slug: string },
): Rendered | undefined {
  const found = objects.index.now({ viewer: context.viewer, revision }, (indexed) => {
    const entry = visibleEntry(indexed, slug);
    const document = objects.documents.cached(versionOf(entry));
    return document && { id: entry.id, document };
  });
  return found && download(context, objects, found);
}

/** The object with a slug. @throws 404 */
export async function readObject(context: RequestContext, objects: CachedObjects, slug: string): Promise<Rendered> {
  const { viewer, revision } = context;
  const found = await objects.index.read({ viewer, revision: await revision() }, async (indexed) => {
    const entry = visibleEntry(indexed, slug);
    const [document] = (await objects.documents.of([versionOf(entry)])) ?? [];
    return document ? { id: entry.id, document } : OUTDATED;
  });
  return download(context, objects, found);
}

/** @throws 404 */
function visibleEntry({ entries, view }: IndexedView, slug: string): Entry {
  const entry = entries.bySlug(slug);
  if (!entry || !view.sees(entry)) throw notFound();
  return entry;
}

interface Found {
  readonly id: string;
  readonly document: Document;
}

/** Counts a download, and returns the object. The entity tag does not cover the number of downloads. */
function download(
  { principal, headOnly, usage }: MemoryContext,
  { kind }: CachedObjects,
  { id, document }: Found,
): Rendered {
  if (principal.kind === 'organization' && !headOnly) usage.countDownload(id, kind);
  const json = jsonOf(document, document.downloads + usage.pendingDownloads(id, kind));
  return renderedReply(Buffer.concat(json), document.etag);
}

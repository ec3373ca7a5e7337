import { DEFAULT_UPDATES, type Input } from '@svc/contract';
import { hubEndpoints } from '@svc/contract/hub';
import { etagOfState, renderedReply, unchanged } from '@svc/http';
import { updatesFromIndex, updatesFromMemory } from '../../../catalog/changes/from-memory.ts';
import { readPage } from '../../../catalog/changes/page.ts';
import { changesSince, LargeChanges, readAtOnce, streamChanges } from '../../../catalog/changes/since.ts';
import { readState } from '../../../catalog/changes/state.ts';
import { callerKey, viewerKey } from '../../../identity/principal.ts';
import { frequentRead, type RequestContext } from '../../request/context.ts';

/**
 * The changes for the caller: all changes since a time, or a page of changes after a cursor. They
 * are read in one snapshot, except for a response to `since` that is so large that it is streamed.
 * If the catalog is unchanged and the caller has the entity tag, no template is read.
 */
export const listTemplateUpdates = frequentRead(
  hubEndpoints.listTemplateUpdates,
  ({ catalog, viewer }, revision, { query }) => updatesFromMemory({ catalog, viewer, revision }, query),
  readUpdates,
);

async function readUpdates(context: RequestContext, { query }: Input<typeof hubEndpoints.listTemplateUpdates>) {
  const { database, catalog, viewer, principal, address, hasEtag, pageQueue, changeQueue } = context;
  const { since, cursor, limit = DEFAULT_UPDATES } = query;
  const fromIndex = await updatesFromIndex({ catalog, viewer, revision: await context.revision() }, query);
  if (fromIndex) return fromIndex;
  const readInSnapshot = () =>
    database.reader.inSnapshot(async (reader) => {
      const state = await readState(reader);
      const etag = etagOfState(viewerKey(viewer), state, query);
      if (hasEtag(etag)) return unchanged(etag);
      const snapshot = { reader, documents: catalog.documents, viewer, state };
      if (!since) return renderedReply(await readPage(snapshot, { cursor: cursor ?? 'start', limit }), etag);
      const changes = changesSince(snapshot, since);
      const body = await readAtOnce(snapshot, changes);
      return body ? renderedReply(body, etag) : new LargeChanges(changes, etag);
    });
  const queue = since ? changeQueue : pageQueue;
  const read = await queue.run(callerKey(principal, address), readInSnapshot);
  return read instanceof LargeChanges ? streamChanges(context, read) : read;
}

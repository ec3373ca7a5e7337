import { DEFAULT_UPDATES, writeCursor } from '@svc/contract';
import { hubEndpoints } from '@svc/contract/hub';
import { etagOfState, Unchanged, WithEtag } from '@svc/http';
import { route } from '../../context.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { type Viewer, viewerKey } from '../../principal.ts';
import {
  endedSince,
  type TemplateRow,
  templateColumns,
  templateSources,
  touchedSince,
  visibleFrom,
  visiblePeriods,
  visibleTemplates,
} from '../visibility.ts';
import { finishedCursor, readPage, readState } from '../walk.ts';

/**
 * The changes for the caller: all changes since a time, or a page of changes after a cursor. Everything is read in one
 * snapshot. If the catalog is unchanged and the caller has the entity tag, no template is read.
 */
export const listTemplateUpdates = route(
  hubEndpoints.listTemplateUpdates,
  async ({ database, viewer, hasEtag }, { query }) => {
    const { since, cursor, limit = DEFAULT_UPDATES } = query;
    return database.client.$transaction(
      async (transaction) => {
        const state = await readState(transaction);
        const etag = etagOfState(viewerKey(viewer), state, query);
        if (hasEtag(etag)) return new Unchanged(etag);
        const snapshot = { transaction, viewer, state };
        const reply = since
          ? await readSince(snapshot, since)
          : await readPage(snapshot, { cursor: cursor ?? 'start', limit });
        return new WithEtag({ ...reply, cursor: writeCursor(reply.cursor) }, etag);
      },
      { isolationLevel: 'RepeatableRead', timeout: 8000 },
    );
  },
);

type Snapshot = Parameters<typeof readPage>[0];

const EPOCH = new Date(0);

/** All changes since a time. If the time is before the floor, all visible templates with `reset: true`. */
async function readSince({ transaction, viewer, state }: Snapshot, since: Date) {
  const reset = state.floor !== null && since < state.floor;
  const from = reset ? EPOCH : since;
  const templates = await transaction.$queryRaw<TemplateRow[]>(changedTemplates(viewer, from));
  const removed = reset ? [] : await transaction.$queryRaw<{ id: string }[]>(removedTemplates(viewer, from));
  return { templates, removed, checked_at: state.at, cursor: finishedCursor(viewer, state), reset, has_more: false };
}

/** The templates that the viewer sees now and that changed or became visible after `since`. */
export const changedTemplates = (viewer: Viewer, since: Date): Prisma.Sql => Prisma.sql`
  SELECT ${templateColumns} FROM ${templateSources}
  WHERE ${visibleTemplates(viewer)} AND ${touchedSince(viewer, since)}
    AND greatest(t.updated_at, c.shown_at, ${visibleFrom(viewer)}) > ${since}
  ORDER BY greatest(t.updated_at, c.shown_at), t.id`;

/** The templates that the viewer stopped seeing after `since` and does not see now. */
export const removedTemplates = (viewer: Viewer, since: Date): Prisma.Sql => Prisma.sql`
  SELECT template_id AS id FROM (${visiblePeriods(viewer)}) AS periods (template_id, until)
  WHERE template_id = ANY (ARRAY(${endedSince(viewer, since)}))
  GROUP BY template_id HAVING max(until) > ${since} AND max(until) < 'infinity'
  ORDER BY max(until), template_id`;

import type { Cursor } from '@svc/contract';
import { etagOfState, Rendered } from '@svc/http';
import type { RequestContext } from '../../../context.ts';
import { type Viewer, viewerKey } from '../../../principal.ts';
import type { CatalogState } from '../../index/changes.ts';
import { renderUpdates } from './body.ts';
import { finishedCursor } from './state.ts';

interface Query {
  readonly since?: Date | undefined;
  readonly cursor?: Cursor | 'start' | undefined;
}

/**
 * The response for a client that already has everything that the caller sees; undefined if it may lack a change. It needs no
 * statement beside the check of the revision. This is the request that a hub serves most of the time.
 */
export async function idleUpdates(
  { catalog, viewer, revision }: RequestContext,
  query: Query,
): Promise<Rendered | undefined> {
  const has = positionOf(query);
  if (!has) return undefined;
  const latest = await revision();
  if (latest.floor !== null && has.at < latest.floor) return undefined;
  return catalog.index.read({ viewer, revision: latest }, async (indexed) => {
    if (has.at.getTime() < indexed.changedAt) return undefined;
    if (has.cursor && (has.cursor.of !== viewerKey(viewer) || !catalog.index.knows(has.cursor.seen))) return undefined;
    const idle = idleAt(indexed.state, viewer);
    return new Rendered(idle.body, idle.etagFor(latest.floor, query));
  });
}

/** The response for one viewer at one state of the catalog. */
interface Idle {
  readonly body: Buffer;
  readonly etagFor: (floor: Date | null, query: Query) => string;
}

/** The responses at each state, by viewer. A state that the index has left is not reachable any longer. */
const known = new WeakMap<CatalogState, Map<string, Idle>>();

function idleAt(state: CatalogState, viewer: Viewer): Idle {
  const atState = known.get(state) ?? new Map<string, Idle>();
  known.set(state, atState);
  const key = viewerKey(viewer);
  const idle = atState.get(key) ?? createIdle(state, viewer);
  atState.set(key, idle);
  return idle;
}

function createIdle(state: CatalogState, viewer: Viewer): Idle {
  const { at, commit } = state;
  const cursor = finishedCursor(viewer, state);
  let last: { readonly of: string; readonly etag: string } | undefined;
  return {
    body: renderUpdates([], { removed: [], checked_at: at, cursor, reset: false, has_more: false }),
    // Most clients of a viewer send the same query, because they received the same response before.
    etagFor: (floor, query) => {
      const of = JSON.stringify([floor, query]);
      if (last?.of !== of) last = { of, etag: etagOfState(viewerKey(viewer), { at, floor, commit }, query) };
      return last.etag;
    },
  };
}

/** The time up to which the client has all changes; undefined if it is inside a walk. */
function positionOf({ since, cursor }: Query) {
  if (since) return { at: since };
  if (cursor === undefined || cursor === 'start') return undefined;
  const { began, listed, position } = cursor;
  return began || listed !== undefined || position.after !== undefined ? undefined : { at: position.at, cursor };
}

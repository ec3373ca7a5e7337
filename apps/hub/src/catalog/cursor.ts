import type { Cursor } from '@svc/contract';
import type { Prisma } from '../generated/prisma/client.ts';
import { type Viewer, viewerKey } from '../principal.ts';
import type { CatalogState } from './state.ts';

/** Before every id. */
const NO_ID = '00000000-0000-0000-0000-000000000000';

/** The `checked_at` of a walk that begins from nothing. */
const NEVER = new Date(0);

/** Everything up to the clock was sent. */
export const finishedCursor = (viewer: Viewer, { at, commit }: CatalogState): Cursor => ({
  v: 1,
  of: viewerKey(viewer),
  seen: commit,
  position: { at },
  checked: at,
});

/** The beginning of a full walk: what there is, then what changed since the clock's present time. */
export const startOfFullWalk = (viewer: Viewer, state: CatalogState): Cursor => ({
  ...finishedCursor(viewer, state),
  began: state.at,
  listed: NO_ID,
  checked: NEVER,
});

/**
 * Whether the catalog can go on from a cursor. It can't from one that was given to another caller, that saw a commit
 * which this database never had or does not remember, or whose changes reach below what was pruned.
 */
export async function isKnown(
  transaction: Prisma.TransactionClient,
  cursor: Cursor,
  { viewer, state: { floor } }: { readonly viewer: Viewer; readonly state: CatalogState },
): Promise<boolean> {
  const { of, seen, began, position } = cursor;
  if (of !== viewerKey(viewer)) return false;
  const isPruned = floor !== null && (began ? began < floor : isBelow(position, floor));
  if (isPruned) return false;
  const rows = await transaction.$queryRaw<unknown[]>`
    SELECT FROM catalog_commits WHERE at = ${seen.at} AND commit = ${seen.commit}::uuid`;
  return rows.length > 0;
}

/** A position within a stamp needs what ended under that very stamp. */
const isBelow = ({ at, after }: Cursor['position'], floor: Date) => (after === undefined ? at < floor : at <= floor);

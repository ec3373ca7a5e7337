import type { Cursor } from '@svc/contract';
import type { Prisma } from '../generated/prisma/client.ts';
import { type Viewer, viewerKey } from '../principal.ts';
import type { CatalogState } from './state.ts';

/** Sorts before every id. */
const NO_ID = '00000000-0000-0000-0000-000000000000';

/** The `checked_at` of a full walk until its last page. */
const NEVER = new Date(0);

/** The cursor of a client that has received all changes up to the catalog clock. */
export const finishedCursor = (viewer: Viewer, { at, commit }: CatalogState): Cursor => ({
  v: 1,
  of: viewerKey(viewer),
  seen: commit,
  position: { at },
  checked: at,
});

/** The first cursor of a full walk, which lists all templates and then sends the changes since its start. */
export const startOfFullWalk = (viewer: Viewer, state: CatalogState): Cursor => ({
  ...finishedCursor(viewer, state),
  began: state.at,
  listed: NO_ID,
  checked: NEVER,
});

/**
 * Whether a walk can continue from a cursor. It cannot if the cursor was issued to another viewer, if the database does not
 * contain the commit of the cursor, or if changes after the position of the cursor were pruned.
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

/** A position with an id is inside a stamp, so it also needs the history that ended at this stamp. */
const isBelow = ({ at, after }: Cursor['position'], floor: Date) => (after === undefined ? at < floor : at <= floor);

import type { Cursor } from '@svc/contract';
import type { Reader } from '@svc/database';
import { Prisma } from '../../generated/prisma/client.ts';
import { type Viewer, viewerKey } from '../../identity/principal.ts';
import { type CatalogState, type StateRow, stateColumns, stateOf, stateSources } from '../../revision/revision.ts';
import { type Kind, templates } from '../kinds.ts';
import { visibleFrom } from '../visibility.ts';
import type { Source } from './read-documents.ts';

export async function readState(reader: Reader): Promise<CatalogState> {
  const [row] = await reader.read<StateRow>(Prisma.sql`SELECT ${stateColumns} FROM ${stateSources}`);
  if (!row) throw new Error('catalog_clock or catalog_commits has no row');
  return stateOf(row);
}

/** A snapshot of the catalog, as one viewer sees it. */
export interface Snapshot extends Source {
  readonly viewer: Viewer;
  readonly state: CatalogState;
}

/**
 * The stamp of the last change of an object for a viewer, including the change that made it
 * visible.
 */
export const stampFor = (kind: Kind, viewer: Viewer) =>
  Prisma.sql`greatest(t.updated_at, c.shown_at, ${visibleFrom(kind, viewer)})`;

/** To whom a cursor belongs. Those of templates have been issued without their kind. */
export const ownerOfCursor = (kind: Kind, viewer: Viewer): string =>
  kind === templates ? viewerKey(viewer) : `${kind.member}:${viewerKey(viewer)}`;

/** The cursor of a client that has received all changes up to the catalog clock. */
export const finishedCursor = (kind: Kind, viewer: Viewer, { at, commit }: CatalogState): Cursor => ({
  v: 1,
  of: ownerOfCursor(kind, viewer),
  seen: commit,
  position: { at },
  checked: at,
});

/** Sorts before every id. */
export const NO_ID = '00000000-0000-0000-0000-000000000000';

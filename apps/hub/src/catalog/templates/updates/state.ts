import type { Cursor } from '@svc/contract';
import type { Reader } from '../../../database/reader.ts';
import { Prisma } from '../../../generated/prisma/client.ts';
import { type Viewer, viewerKey } from '../../../principal.ts';
import { newestCommit } from '../../../revision.ts';
import type { CatalogState } from '../../index/changes.ts';
import { visibleFrom } from '../../visibility.ts';
import type { Source } from './read-documents.ts';

export async function readState(reader: Reader): Promise<CatalogState> {
  const [row] = await reader.read<{ at: Date; floor: Date | null; commit_at: Date; commit: string }>(Prisma.sql`
    SELECT k.at, k.floor, n.at AS commit_at, n.commit FROM catalog_clock k, ${newestCommit} n`);
  if (!row) throw new Error('catalog_clock or catalog_commits has no row');
  return { at: row.at, floor: row.floor, commit: { at: row.commit_at, commit: row.commit } };
}

/** A snapshot of the catalog, as one viewer sees it. */
export interface Snapshot extends Source {
  readonly viewer: Viewer;
  readonly state: CatalogState;
}

/** The stamp of the last change of a template for a viewer, including the change that made it visible. */
export const stampFor = (viewer: Viewer) => Prisma.sql`greatest(t.updated_at, c.shown_at, ${visibleFrom(viewer)})`;

/** The cursor of a client that has received all changes up to the catalog clock. */
export const finishedCursor = (viewer: Viewer, { at, commit }: CatalogState): Cursor => ({
  v: 1,
  of: viewerKey(viewer),
  seen: commit,
  position: { at },
  checked: at,
});

/** Sorts before every id. */
export const NO_ID = '00000000-0000-0000-0000-000000000000';

import type { Prisma } from '../generated/prisma/client.ts';

/** The state of the catalog in one snapshot. */
export interface CatalogState {
  /** The catalog clock. Changes in the snapshot have stamps up to this time; all other changes have later stamps. */
  readonly at: Date;
  /** The latest time of which history was pruned. */
  readonly floor: Date | null;
  /** The newest commit. It shows whether the database was restored from a backup. */
  readonly commit: { readonly at: Date; readonly commit: string };
}

export async function readState(transaction: Prisma.TransactionClient): Promise<CatalogState> {
  const [row] = await transaction.$queryRaw<
    { at: Date; floor: Date | null; commit_at: Date; commit: string }[]
  >`SELECT k.at, k.floor, n.at AS commit_at, n.commit
    FROM catalog_clock k, (SELECT at, commit FROM catalog_commits ORDER BY at DESC LIMIT 1) n`;
  if (!row) throw new Error('catalog_clock or catalog_commits has no row');
  return { at: row.at, floor: row.floor, commit: { at: row.commit_at, commit: row.commit } };
}

import type { Reader } from '@svc/database';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Document, Documents, Version } from '../memory/documents.ts';

/**
 * Where the documents of a response come from: the database, as one reader sees it, and the
 * documents in memory.
 */
export interface Source {
  readonly reader: Reader;
  readonly documents: Documents;
}

/**
 * The documents of the templates for which `condition` holds, in the order of `ids`. It repeats if
 * a template changes between its two statements, so the reader must have a snapshot, or `condition`
 * must not hold for a template that changes.
 */
export async function readDocuments(
  { reader, documents }: Source,
  ids: readonly string[],
  condition = Prisma.sql`true`,
): Promise<readonly Document[]> {
  if (ids.length === 0) return [];
  const found = await documents.of(await readVersions({ reader, documents }, ids, condition), reader);
  return found ?? readDocuments({ reader, documents }, ids, condition);
}

async function readVersions(
  { reader, documents }: Source,
  ids: readonly string[],
  condition: Prisma.Sql,
): Promise<Version[]> {
  const rows = await reader.read<{ id: string; updated_at: Date; shown_at: Date }>(Prisma.sql`
    SELECT t.id, t.updated_at, c.shown_at FROM ${documents.kind.sources}
      JOIN unnest(${ids}::uuid[]) WITH ORDINALITY AS part (id, place) ON part.id = t.id
    WHERE ${condition}
    ORDER BY part.place`);
  return rows.map((row) => ({ id: row.id, updatedAt: row.updated_at.getTime(), shownAt: row.shown_at.getTime() }));
}

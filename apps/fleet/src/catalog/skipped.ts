import type { Prisma } from '../generated/prisma/client.ts';
import type { UnreadableEntry } from './read.ts';

type Transaction = Prisma.TransactionClient;

interface SkippedEntries {
  readonly kind: 'template' | 'category';
  readonly unreadable: readonly UnreadableEntry[];
  /** The cursor with which the page of templates was requested. */
  readonly cursor: string | null;
  readonly generation: number;
}

/** Records what the fleet could not read, in the transaction that stores the rest of the response. */
export const recordSkipped = (
  transaction: Transaction,
  { kind, unreadable, cursor, generation }: SkippedEntries,
): Promise<number> =>
  transaction.$executeRaw`
    INSERT INTO catalog_skipped (kind, entry_id, slug, reason, cursor, generation)
    SELECT ${kind}::text, id, slug, reason, ${cursor}::text, ${generation}::int
    FROM jsonb_to_recordset(${JSON.stringify(unreadable)}::jsonb) AS r (id uuid, slug text, reason text)
    ON CONFLICT (kind, entry_id) DO UPDATE SET slug = excluded.slug, reason = excluded.reason,
      cursor = excluded.cursor, generation = excluded.generation, fetched_at = now()`;

/** Deletes the records of templates that were read or removed. */
export const forgetSkipped = (transaction: Transaction, ids: readonly string[]): Promise<number> =>
  transaction.$executeRaw`DELETE FROM catalog_skipped WHERE kind = 'template' AND entry_id = ANY(${ids}::uuid[])`;

/** Deletes the records of templates that the full walk of a generation did not list. */
export const forgetUnvisited = (transaction: Transaction, generation: number): Promise<number> =>
  transaction.$executeRaw`DELETE FROM catalog_skipped WHERE kind = 'template' AND generation < ${generation}`;

export const forgetCategories = (transaction: Transaction): Promise<number> =>
  transaction.$executeRaw`DELETE FROM catalog_skipped WHERE kind = 'category'`;

/** Whether the full walk of a generation listed a template without a readable id. It can be any template of the mirror. */
export async function hasUnidentified(transaction: Transaction, generation: number): Promise<boolean> {
  const [row] = await transaction.$queryRaw<{ has: boolean }[]>`
    SELECT EXISTS (
      SELECT FROM catalog_skipped WHERE kind = 'template' AND entry_id IS NULL AND generation >= ${generation}) AS has`;
  return row?.has ?? false;
}

/** The maximum number of pages that a sync fetches again. With more, syncs take turns. */
const MAX_PAGES = 10;

/** The pages with skipped templates that were not fetched since a time, by the cursors that request them. */
export async function pagesToRepeat(client: Transaction, since: Date): Promise<string[]> {
  const rows = await client.$queryRaw<{ cursor: string }[]>`
    SELECT cursor FROM catalog_skipped WHERE kind = 'template' AND cursor IS NOT NULL
    GROUP BY cursor HAVING max(fetched_at) < ${since} ORDER BY min(fetched_at), cursor LIMIT ${MAX_PAGES}`;
  return rows.map(({ cursor }) => cursor);
}

/** The recorded templates of a page: their ids, and the number of those without one. */
export async function skippedOnPage(
  transaction: Transaction,
  cursor: string,
): Promise<{ readonly ids: ReadonlySet<string>; readonly unidentified: number }> {
  const rows = await transaction.$queryRaw<{ entry_id: string | null }[]>`
    SELECT entry_id FROM catalog_skipped WHERE kind = 'template' AND cursor = ${cursor}`;
  const ids = rows.flatMap(({ entry_id }) => entry_id ?? []);
  return { ids: new Set(ids), unidentified: rows.length - ids.length };
}

/** Records that a page was fetched again. */
export const markRepeated = (transaction: Transaction, cursor: string): Promise<number> =>
  transaction.$executeRaw`
    UPDATE catalog_skipped SET fetched_at = now() WHERE kind = 'template' AND cursor = ${cursor}`;

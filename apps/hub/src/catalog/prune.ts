import type { Database } from '../database/client.ts';
import { Prisma } from '../generated/prisma/client.ts';

/** Rows that one transaction deletes at most: each ends within the statement timeout, and holds up no writer for long. */
const BATCH = 2000;

const HISTORIES = ['template_scopes', 'category_privacy', 'catalog_access_periods'] as const;

/**
 * Forgets who could see what until a moment. The latest end of what is deleted becomes the catalog's floor in the same
 * transaction: who asks for changes since before it is told to begin from nothing. What still holds is never touched, and
 * the newest commit stays, so that an idle catalog resets nobody.
 * @returns how many rows went
 */
export async function pruneHistory(database: Database, before: Date): Promise<number> {
  let deleted = 0;
  for (const history of HISTORIES) deleted += await inBatches(() => pruneBatch(database, history, before));
  return deleted + (await inBatches(() => pruneCommits(database, before)));
}

async function inBatches(prune: () => Promise<number>): Promise<number> {
  let all = 0;
  for (let count = BATCH; count === BATCH; all += count) count = await prune();
  return all;
}

async function pruneBatch({ client }: Database, history: (typeof HISTORIES)[number], before: Date): Promise<number> {
  const table = Prisma.raw(history);
  const [row] = await client.$queryRaw<{ count: number }[]>`
    WITH gone AS (
      DELETE FROM ${table} WHERE id IN (
        SELECT id FROM ${table} WHERE valid_to < ${before} ORDER BY valid_to LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)
      RETURNING valid_to
    ), last AS (SELECT count(*)::int AS count, max(valid_to) AS valid_to FROM gone), raised AS (
      UPDATE catalog_clock SET floor = greatest(floor, last.valid_to) FROM last WHERE last.count > 0)
    SELECT count FROM last`;
  return row?.count ?? 0;
}

/** A commit goes when the one after it is old enough: until then somebody may have seen it as the newest. */
const pruneCommits = ({ client }: Database, before: Date): Promise<number> =>
  client.$executeRaw`
      DELETE FROM catalog_commits WHERE at IN (
        SELECT at FROM catalog_commits WHERE at < (SELECT max(at) FROM catalog_commits WHERE at < ${before})
        ORDER BY at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)`;

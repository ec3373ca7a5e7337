import { type Log, type PeriodicTask, runPeriodically } from '@svc/http';
import type { Database } from '../database/client.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { applications, type Kind, templates } from './kinds.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

interface PruningOptions {
  readonly database: Database;
  /** Retention of the history in days (`CATALOG_HISTORY_DAYS`). */
  readonly days: number;
  readonly log: Log;
}

/**
 * Prunes the catalog history within an hour of the start, and then daily. Concurrent replicas share
 * the work.
 */
export const startHistoryPruning = ({ database, days, log }: PruningOptions): PeriodicTask =>
  runPeriodically(Math.random() * HOUR_MS, async () => {
    try {
      const rows = await pruneHistory(database, new Date(Date.now() - days * DAY_MS));
      if (rows > 0) log.info({ rows, days }, 'history pruned');
      return DAY_MS;
    } catch (error) {
      // A failure is possible in operation, for example while the clock row is locked.
      log.warn({ err: error }, 'history pruning failed; will retry in an hour');
      return HOUR_MS;
    }
  });

/**
 * Maximum number of rows per transaction. It bounds the duration of a statement and the wait of
 * writers.
 */
const BATCH = 2000;

const HISTORIES = ['template_scopes', 'application_scopes', 'category_privacy', 'catalog_access_periods'] as const;

/**
 * Deletes the visibility history that ended before `before`. The same transaction stores the latest
 * end of the deleted intervals as the floor of the catalog; clients that ask for changes from
 * before the floor start again with an empty copy. Open intervals and the newest commit are kept,
 * so that an idle catalog resets no client. Also deletes the oldest revisions of objects with many,
 * and those of objects that were deleted before `before`.
 * @returns the number of deleted rows
 */
export async function pruneHistory(database: Database, before: Date): Promise<number> {
  let count = 0;
  for (const history of HISTORIES) count += await inBatches(() => pruneBatch(database, history, before));
  for (const kind of [templates, applications]) count += await inBatches(() => pruneRevisions(database, kind, before));
  return count + (await inBatches(() => pruneCommits(database, before)));
}

async function inBatches(prune: () => Promise<number>): Promise<number> {
  let total = 0;
  for (let count = BATCH; count === BATCH; total += count) count = await prune();
  return total;
}

async function pruneBatch({ client }: Database, history: (typeof HISTORIES)[number], before: Date): Promise<number> {
  const table = Prisma.raw(history);
  const [row] = await client.$queryRaw<{ count: number }[]>`
    WITH deleted AS (
      DELETE FROM ${table} WHERE id IN (
        SELECT id FROM ${table} WHERE valid_to < ${before} ORDER BY valid_to LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)
      RETURNING valid_to
    ), last AS (SELECT count(*)::int AS count, max(valid_to) AS valid_to FROM deleted), raised AS (
      UPDATE catalog_clock SET floor = greatest(floor, last.valid_to) FROM last WHERE last.count > 0)
    SELECT count FROM last`;
  return row?.count ?? 0;
}

async function pruneRevisions({ client }: Database, { pruneHistory: prune }: Kind, before: Date): Promise<number> {
  const [row] = await client.$queryRaw<{ count: number }[]>`
    SELECT ${prune}(${before}::timestamptz) AS count`;
  return row?.count ?? 0;
}

/**
 * Deletes a commit if its successor is older than `before`. Until then, a cursor may contain it as
 * the newest commit.
 */
const pruneCommits = ({ client }: Database, before: Date): Promise<number> =>
  client.$executeRaw`
      DELETE FROM catalog_commits WHERE at IN (
        SELECT at FROM catalog_commits WHERE at < (SELECT max(at) FROM catalog_commits WHERE at < ${before})
        ORDER BY at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)`;

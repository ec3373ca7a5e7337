import { CallError, fold, searchText } from '@svc/contract';
import type { Database } from '../database/client.ts';
import type { RecordedEvent } from '../events/record.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { forgetAdvice, storeApplicationAdvice } from './advice.ts';
import { recordAdvisories } from './advisories.ts';
import type { ApplicationSource } from './hub.ts';
import { EmptyCatalog, LeaseLost } from './mirror.ts';
import {
  type ApplicationPage,
  cursorReaderOf,
  type Entries,
  type MirroredApplication,
  readApplicationPage,
} from './read.ts';

type Transaction = Prisma.TransactionClient;

interface ApplicationSync {
  readonly database: Database;
  readonly hub: ApplicationSource;
  /** The owner of the lease of the sync. */
  readonly owner: string;
}

/** The maximum number of applications and removals in a page, and of applications in one statement. */
const PAGE_LIMIT = 100;
const BATCH = 25;
const START = 'start';

/** The maximum number of unreadable applications that are recorded. */
const MAX_SKIPPED = 1000;

/**
 * Updates the mirror of the applications, after the templates. Each change of the catalog of the hub advances its time, so nothing is
 * requested while the time that the sync of the templates has received is that of the mirror of the applications. A hub of an earlier version
 * has no applications: the mirror stays, and the next sync asks again.
 * @returns the events that were recorded. @throws CallError, LeaseLost, EmptyCatalog
 */
export async function syncApplications(
  run: ApplicationSync,
  { full }: { readonly full: boolean },
): Promise<readonly RecordedEvent[]> {
  const progress = await readProgress(run);
  const continues =
    !full &&
    progress.source === run.hub.source &&
    progress.cursor_reader === cursorReaderOf(progress.cursor) &&
    progress.skipped_total === 0;
  if (continues && progress.is_current) return [];
  let cursor = continues ? (progress.cursor ?? START) : START;
  for (let hasMore = true; hasMore; ) {
    const page = await fetchPage(run, cursor);
    if (!page) return [];
    await applyPage(run, page);
    cursor = page.cursor;
    hasMore = page.has_more;
  }
  return run.database.mirrorWriter.$transaction(async (transaction) => {
    await lockProgress(transaction, run.owner);
    await forgetAdvice(transaction);
    return recordAdvisories(transaction);
  });
}

interface Progress {
  readonly source: string | null;
  readonly cursor: string | null;
  readonly cursor_reader: string | null;
  readonly skipped_total: number;
  /** Whether the mirror has everything up to the catalog time that the templates have. */
  readonly is_current: boolean;
}

async function readProgress({ database: { client } }: ApplicationSync): Promise<Progress> {
  const [row] = await client.$queryRaw<Progress[]>`
    SELECT a.source, a.cursor, a.cursor_reader, a.skipped_total,
      a.supported AND NOT a.in_full_walk AND coalesce(a.checked_at = t.checked_at, false) AS is_current
    FROM catalog_cursors a, catalog_sync t WHERE a.kind = 'application'`;
  if (!row) throw new Error('catalog_cursors has no row for applications');
  return row;
}

/** A page of changes; undefined if the hub has no applications, because it is of an earlier version. @throws CallError */
async function fetchPage({ database, hub }: ApplicationSync, cursor: string): Promise<ApplicationPage | undefined> {
  try {
    const page = readApplicationPage(await hub.client.listApplicationUpdates({ query: { cursor, limit: PAGE_LIMIT } }));
    // A cursor that does not advance would lead to an endless loop.
    if (page.has_more && page.cursor === cursor) throw new CallError('updates', { kind: 'unreadable', status: 200 });
    return page;
  } catch (error) {
    const status = error instanceof CallError && error.failure.kind === 'refused' ? error.failure.status : undefined;
    if (status === 404) {
      await database.client.$executeRaw`UPDATE catalog_cursors SET supported = false WHERE kind = 'application'`;
      return undefined;
    }
    if (status === 400 && cursor !== START)
      await database.client.$executeRaw`UPDATE catalog_cursors SET cursor = NULL WHERE kind = 'application'`;
    throw error;
  }
}

interface Skipped {
  readonly id: string | null;
  readonly slug: string | null;
  readonly reason: string;
}

interface Stored {
  readonly generation: number;
  readonly in_full_walk: boolean;
  readonly found_empty: boolean;
  readonly skipped_total: number;
  readonly skipped: readonly Skipped[];
}

/**
 * Stores one page and its cursor in one transaction. The last page of a full walk deletes the applications that no page contained.
 * @throws LeaseLost; EmptyCatalog, after which the next walk is a full walk
 */
async function applyPage({ database, hub, owner }: ApplicationSync, page: ApplicationPage): Promise<void> {
  const { readable, unreadable } = page.applications;
  const isEmptied = await database.mirrorWriter.$transaction(async (transaction) => {
    const stored = await lockProgress(transaction, owner);
    const generation = stored.generation + (page.reset ? 1 : 0);
    const inFullWalk = page.reset || stored.in_full_walk;
    const before = page.reset ? { total: 0, entries: [] } : { total: stored.skipped_total, entries: stored.skipped };
    const skipped = mergeSkipped(before.entries, unreadable);
    const total = before.total + unreadable.length;
    await storeApplications(transaction, readable, generation);
    await storeApplicationAdvice(transaction, readable);
    await keepApplications(transaction, unreadable, generation);
    await transaction.$executeRaw`DELETE FROM catalog_applications WHERE id = ANY(${[...page.removed]}::uuid[])`;
    const isLast = !page.has_more;
    if (isLast && inFullWalk && !stored.found_empty && total === 0 && (await wouldEmpty(transaction, generation))) {
      await transaction.$executeRaw`
        UPDATE catalog_cursors SET cursor = NULL, generation = ${generation}, in_full_walk = false, found_empty = true
        WHERE kind = 'application'`;
      return true;
    }
    // An application without a readable id can be any of those that no page contained.
    if (isLast && inFullWalk && skipped.every(({ id }) => id !== null))
      await transaction.$executeRaw`DELETE FROM catalog_applications WHERE generation < ${generation}`;
    // Without a cursor, the next walk is a full walk.
    const cursor = page.hasUnreadableRemoval ? null : page.cursor;
    await transaction.$executeRaw`
      UPDATE catalog_cursors SET supported = true, source = ${hub.source}, cursor = ${cursor},
        cursor_reader = ${cursorReaderOf(page.cursor)}, generation = ${generation}, in_full_walk = ${inFullWalk && !isLast},
        found_empty = found_empty AND ${!isLast}::boolean, skipped_total = ${total},
        skipped = ${JSON.stringify(skipped)}::jsonb,
        checked_at = CASE WHEN ${isLast}::boolean THEN ${new Date(page.checked_at)}::timestamptz ELSE checked_at END
      WHERE kind = 'application'`;
    return false;
  });
  if (isEmptied) throw new EmptyCatalog();
}

/** Those without a readable id come first, because they prevent deletions. */
const mergeSkipped = (before: readonly Skipped[], unreadable: Entries<MirroredApplication>['unreadable']): Skipped[] =>
  [...before, ...unreadable.map(({ id = null, slug = null, reason }) => ({ id, slug, reason }))]
    .toSorted((one, other) => Number(one.id !== null) - Number(other.id !== null))
    .slice(0, MAX_SKIPPED);

async function lockProgress(transaction: Transaction, owner: string): Promise<Stored> {
  const [stored] = await transaction.$queryRaw<Stored[]>`
    SELECT a.generation, a.in_full_walk, a.found_empty, a.skipped_total, a.skipped
    FROM catalog_cursors a, catalog_sync t
    WHERE a.kind = 'application' AND t.lease_owner = ${owner}::uuid FOR UPDATE`;
  if (!stored) throw new LeaseLost();
  return stored;
}

async function storeApplications(
  transaction: Transaction,
  applications: readonly MirroredApplication[],
  generation: number,
): Promise<void> {
  for (let start = 0; start < applications.length; start += BATCH) {
    const rows = applications.slice(start, start + BATCH).map(({ signed, ...application }) => ({
      id: application.id,
      slug: application.slug,
      category_id: application.category_id,
      category_slug: application.category_slug,
      is_featured: application.is_featured,
      tags: application.tags.map(fold), // only for the filter of lists
      search_text: searchText(application.name, application.description),
      sort_name: fold(application.name),
      updated_at: application.updated_at,
      document: application,
      signed,
    }));
    await transaction.$executeRaw`
      INSERT INTO catalog_applications (id, slug, category_id, category_slug, is_featured, tags, search_text, sort_name,
        updated_at, generation, document, summary, document_bytes, summary_bytes, signed)
      SELECT id, slug, category_id, category_slug, is_featured, tags, search_text, sort_name, updated_at, ${generation}::int,
        document, short, octet_length(document::text), octet_length(short::text), nullif(signed, 'null')
      FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS r (
          id uuid, slug text, category_id uuid, category_slug text, is_featured boolean, tags text[], search_text text,
          sort_name text, updated_at timestamptz, document jsonb, signed jsonb),
        LATERAL (SELECT document ||
          '{"documentation": "", "inputs": [], "generated": [], "parts": [], "signatures": []}'::jsonb AS short) s
      ON CONFLICT (id) DO UPDATE SET
        slug = excluded.slug, category_id = excluded.category_id, category_slug = excluded.category_slug,
        is_featured = excluded.is_featured, tags = excluded.tags, search_text = excluded.search_text,
        sort_name = excluded.sort_name, updated_at = excluded.updated_at, generation = excluded.generation,
        document = excluded.document, summary = excluded.summary, document_bytes = excluded.document_bytes,
        summary_bytes = excluded.summary_bytes, signed = excluded.signed`;
  }
}

/** Keeps the stored copies of applications that a page lists and that cannot be read. */
const keepApplications = (
  transaction: Transaction,
  unreadable: Entries<MirroredApplication>['unreadable'],
  generation: number,
): Promise<number> =>
  transaction.$executeRaw`
    UPDATE catalog_applications SET generation = ${generation}
    WHERE id = ANY(${unreadable.flatMap(({ id }) => id ?? [])}::uuid[]) AND generation < ${generation}`;

/** Whether the end of the full walk of a generation would delete all applications of a mirror that has some. */
async function wouldEmpty(transaction: Transaction, generation: number): Promise<boolean> {
  const [row] = await transaction.$queryRaw<{ would: boolean }[]>`
    SELECT EXISTS (SELECT FROM catalog_applications)
       AND NOT EXISTS (SELECT FROM catalog_applications WHERE generation >= ${generation}) AS would`;
  return row?.would ?? false;
}

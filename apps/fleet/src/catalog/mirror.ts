import { type Category, fold, searchText } from '@svc/contract';
import type { Database } from '../database/client.ts';
import type { RecordedEvent } from '../events/record.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { forgetAdvice, hasRevision, storeAdvice, withKnownAdvice } from './advice.ts';
import { recordAdvisories } from './advisories.ts';
import {
  cursorReaderOf,
  type Entries,
  type MirroredTemplate,
  type TemplatePage,
  type UnreadableEntry,
} from './read.ts';

type Transaction = Prisma.TransactionClient;

/** The maximum number of templates in one statement. */
const BATCH = 125;

/** Stores templates as the hub sent them, regardless of whether they are newer. */
async function storeTemplates(
  transaction: Transaction,
  templates: readonly MirroredTemplate[],
  generation: number,
): Promise<void> {
  for (let start = 0; start < templates.length; start += BATCH) {
    await storeBatch(transaction, templates.slice(start, start + BATCH), generation);
  }
}

async function storeBatch(
  transaction: Transaction,
  templates: readonly MirroredTemplate[],
  generation: number,
): Promise<void> {
  const rows = templates.map(({ signed, ...template }) => ({
    id: template.id,
    slug: template.slug,
    category_id: template.category_id,
    category_slug: template.category_slug,
    is_featured: template.is_featured,
    tags: template.tags.map(fold), // only for the filter of lists
    search_text: searchText(template.name, template.description),
    sort_name: fold(template.name),
    updated_at: template.updated_at,
    document: template,
    signed,
  }));
  await transaction.$executeRaw`
    INSERT INTO catalog_templates
      (id, slug, category_id, category_slug, is_featured, tags, search_text, sort_name, updated_at, document, signed, generation)
    SELECT id, slug, category_id, category_slug, is_featured, tags, search_text, sort_name, updated_at, ${withKnownAdvice},
           nullif(signed, 'null'), ${generation}::int
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS r (
      id uuid, slug text, category_id uuid, category_slug text, is_featured boolean, tags text[], search_text text,
      sort_name text, updated_at timestamptz, document jsonb, signed jsonb)
    ON CONFLICT (id) DO UPDATE SET
      slug = excluded.slug, category_id = excluded.category_id, category_slug = excluded.category_slug,
      is_featured = excluded.is_featured, tags = excluded.tags, search_text = excluded.search_text,
      sort_name = excluded.sort_name, updated_at = excluded.updated_at, document = excluded.document,
      signed = excluded.signed, trust = NULL, generation = excluded.generation`;
}

/** @returns the number of deleted templates */
const dropTemplates = (transaction: Transaction, ids: readonly string[]): Promise<number> =>
  transaction.$executeRaw`DELETE FROM catalog_templates WHERE id = ANY(${ids}::uuid[])`;

/** Keeps the stored copies of templates that a page lists and that cannot be read. */
const keepTemplates = (transaction: Transaction, ids: readonly string[], generation: number): Promise<number> =>
  transaction.$executeRaw`
    UPDATE catalog_templates SET generation = ${generation} WHERE id = ANY(${ids}::uuid[]) AND generation < ${generation}`;

/**
 * Deletes the templates that the full walk of a generation did not contain. It deletes none if the
 * walk contained one without a readable id, which can be any of them.
 * @returns the number of deleted templates
 */
async function deleteUnvisited(transaction: Transaction, generation: number): Promise<number> {
  if (await hasUnidentified(transaction, generation)) return 0;
  return transaction.$executeRaw`DELETE FROM catalog_templates WHERE generation < ${generation}`;
}

/** Whether `deleteUnvisited` would delete all templates of a mirror that has some. */
async function wouldEmpty(transaction: Transaction, generation: number): Promise<boolean> {
  const [row] = await transaction.$queryRaw<{ would: boolean }[]>`
    SELECT EXISTS (SELECT FROM catalog_templates)
       AND NOT EXISTS (SELECT FROM catalog_templates WHERE generation >= ${generation})
       AND NOT EXISTS (SELECT FROM catalog_skipped WHERE kind = 'template' AND generation >= ${generation}) AS would`;
  return row?.would ?? false;
}

/**
 * Replaces the categories. A category that cannot be read keeps its stored copy; without a readable
 * id it can be any.
 */
async function replaceCategories(transaction: Transaction, { readable, unreadable }: Entries<Category>): Promise<void> {
  const rows = readable.map((category) => ({
    id: category.id,
    sort_order: category.sort_order,
    sort_name: fold(category.name),
    document: category,
  }));
  const kept = idsOf(unreadable);
  const replaced = idsOf(readable);
  const deletesOthers = kept.length === unreadable.length;
  await transaction.$executeRaw`
    DELETE FROM catalog_categories
    WHERE id = ANY(${replaced}::uuid[]) OR (${deletesOthers}::boolean AND id <> ALL(${kept}::uuid[]))`;
  await transaction.$executeRaw`
    INSERT INTO catalog_categories (id, sort_order, sort_name, document)
    SELECT id, sort_order, sort_name, document FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS r (
      id uuid, sort_order int, sort_name text, document jsonb)`;
  await forgetCategories(transaction);
  await recordSkipped(transaction, { kind: 'category', unreadable, cursor: null, generation: 0 });
}

/** Another run holds the lease. A run that has lost its lease must not write. */
export class LeaseLost extends Error {
  override name = 'LeaseLost';
}

/**
 * A full walk found no templates, but the mirror has some. The mirror is emptied only if the next
 * full walk finds none either.
 */
export class EmptyCatalog extends Error {
  override name = 'EmptyCatalog';
}

/** The numbers of templates that a run has stored and deleted so far. */
export interface SyncCounts {
  readonly updated: number;
  readonly removed: number;
}

/** What the transaction of a page has done. */
interface Applied {
  /** Those of the run so far. */
  readonly counts: SyncCounts;
  readonly recorded: readonly RecordedEvent[];
}

/** The response of the hub that is to be stored. */
export interface HubResponse {
  readonly page: TemplatePage;
  /** The categories, fetched after the last page; undefined if they need not be replaced. */
  readonly categories: Entries<Category> | undefined;
}

interface SyncProgress {
  readonly generation: number;
  readonly in_full_walk: boolean;
  readonly found_empty: boolean;
  readonly full_walk_due: boolean;
  /** Whether the hub has sent a template without a revision since the last full walk began. */
  readonly lacks_revisions: boolean;
}

/**
 * Stores one page, its cursor and the templates that cannot be read in one transaction. The last
 * page of a full walk deletes the templates that no page contained, and that of each walk records events of advisories.
 * @throws LeaseLost; EmptyCatalog, after which the next walk is a full walk
 */
export async function applyPage(
  database: Database,
  owner: string,
  { response, counts }: { readonly response: HubResponse; readonly counts: SyncCounts },
): Promise<Applied> {
  const { page, categories } = response;
  const apply = async (transaction: Prisma.TransactionClient): Promise<Applied | 'found empty'> => {
    const progress = await lockProgress(transaction, owner);
    const generation = progress.generation + (page.reset ? 1 : 0);
    const inFullWalk = page.reset || progress.in_full_walk;
    const { lacksRevisions, regainsRevisions } = revisionsOf(page, progress);
    const fullWalkDue = page.hasUnreadableRemoval || regainsRevisions || (progress.full_walk_due && !page.reset);
    const cursorReader = cursorReaderOf(page.cursor);
    await storeReadable(transaction, page.templates.readable, generation);
    await storeUnreadable(transaction, page, generation);
    const updated = counts.updated + page.templates.readable.length;
    const removed = counts.removed + (await dropTemplates(transaction, page.removed));
    if (page.has_more) {
      await transaction.$executeRaw`
        UPDATE catalog_sync SET cursor = ${page.cursor}, cursor_reader = ${cursorReader}, generation = ${generation},
          in_full_walk = ${inFullWalk}, full_walk_due = ${fullWalkDue}, lacks_revisions = ${lacksRevisions}`;
      return { counts: { updated, removed }, recorded: [] };
    }
    if (inFullWalk && !progress.found_empty && (await wouldEmpty(transaction, generation))) {
      await transaction.$executeRaw`
        UPDATE catalog_sync SET cursor = NULL, generation = ${generation}, in_full_walk = false, found_empty = true`;
      return 'found empty';
    }
    const deleted = inFullWalk ? await deleteUnvisited(transaction, generation) : 0;
    if (inFullWalk) await forgetUnvisited(transaction, generation);
    if (categories) await replaceCategories(transaction, categories);
    await forgetAdvice(transaction);
    await transaction.$executeRaw`
      UPDATE catalog_sync SET cursor = ${page.cursor}, cursor_reader = ${cursorReader},
        checked_at = ${new Date(page.checked_at)}, generation = ${generation}, in_full_walk = false,
        found_empty = false, full_walk_due = ${fullWalkDue}, lacks_revisions = ${lacksRevisions}, last_success_at = now(),
        last_full = ${inFullWalk}, last_updated = ${updated}, last_removed = ${removed + deleted},
        stale_since = NULL, failures = 0`;
    return { counts: { updated, removed: removed + deleted }, recorded: await recordAdvisories(transaction) };
  };
  const result = await database.mirrorWriter.$transaction(apply);
  if (result === 'found empty') throw new EmptyCatalog();
  return result;
}

/**
 * Whether the templates that the hub sent lack revisions, because a hub of an earlier version responds, perhaps beside
 * one of this version. When templates have revisions again, a full walk gets those that were sent without one.
 */
function revisionsOf({ reset, templates: { readable } }: TemplatePage, { lacks_revisions }: SyncProgress) {
  const lacksRevisions = (lacks_revisions && !reset) || !readable.every(hasRevision);
  return { lacksRevisions, regainsRevisions: lacksRevisions && readable.some(hasRevision) };
}

/** The ids of the entries that have a readable one. */
const idsOf = (entries: readonly { readonly id: string | undefined }[]): string[] =>
  entries.flatMap(({ id }) => id ?? []);

async function storeReadable(
  transaction: Transaction,
  templates: readonly MirroredTemplate[],
  generation: number,
): Promise<void> {
  await storeTemplates(transaction, templates, generation);
  await storeAdvice(transaction, templates);
  await forgetSkipped(transaction, idsOf(templates));
}

/** Records the templates that cannot be read, and keeps their stored copies. */
async function storeUnreadable(
  transaction: Transaction,
  { templates: { unreadable }, removed, requestedCursor }: TemplatePage,
  generation: number,
): Promise<void> {
  await keepTemplates(transaction, idsOf(unreadable), generation);
  await recordSkipped(transaction, { kind: 'template', unreadable, cursor: requestedCursor, generation });
  await forgetSkipped(transaction, removed);
}

/**
 * Stores the skipped templates that can be read now, from a page that was fetched again. If the
 * page does not contain all of them, or is undefined because the hub rejected its cursor, the next
 * sync is a full walk.
 * @throws LeaseLost
 */
export async function applyRepeatedPage(
  database: Database,
  owner: string,
  { cursor, page }: { readonly cursor: string; readonly page: TemplatePage | undefined },
): Promise<void> {
  const apply = async (transaction: Transaction): Promise<void> => {
    const { generation } = await lockProgress(transaction, owner);
    const skipped = await skippedOnPage(transaction, cursor);
    const { readable, unreadable } = page?.templates ?? { readable: [], unreadable: [] };
    const isSkipped = ({ id }: { readonly id: string | undefined }) => id !== undefined && skipped.ids.has(id);
    const readAgain = readable.filter(isSkipped);
    const skippedAgain = unreadable.filter(isSkipped);
    const unidentified = unreadable.filter(({ id }) => id === undefined);
    const isComplete =
      readAgain.length + skippedAgain.length === skipped.ids.size && unidentified.length >= skipped.unidentified;
    await storeReadable(transaction, readAgain, generation);
    await recordSkipped(transaction, { kind: 'template', unreadable: skippedAgain, cursor, generation });
    await markRepeated(transaction, cursor);
    await transaction.$executeRaw`
      UPDATE catalog_sync
      SET last_updated = last_updated + ${readAgain.length}, full_walk_due = full_walk_due OR ${!isComplete},
        lacks_revisions = lacks_revisions OR ${!readAgain.every(hasRevision)}`;
  };
  await database.mirrorWriter.$transaction(apply);
}

async function lockProgress(transaction: Prisma.TransactionClient, owner: string): Promise<SyncProgress> {
  const [progress] = await transaction.$queryRaw<SyncProgress[]>`
    SELECT generation, in_full_walk, found_empty, full_walk_due, lacks_revisions FROM catalog_sync
    WHERE lease_owner = ${owner}::uuid FOR UPDATE`;
  if (!progress) throw new LeaseLost();
  return progress;
}

interface SkippedEntries {
  readonly kind: 'template' | 'category';
  readonly unreadable: readonly UnreadableEntry[];
  /** The cursor with which the page of templates was requested. */
  readonly cursor: string | null;
  readonly generation: number;
}

/**
 * Records what the fleet could not read, in the transaction that stores the rest of the response.
 */
const recordSkipped = (
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
const forgetSkipped = (transaction: Transaction, ids: readonly string[]): Promise<number> =>
  transaction.$executeRaw`DELETE FROM catalog_skipped WHERE kind = 'template' AND entry_id = ANY(${ids}::uuid[])`;

/** Deletes the records of templates that the full walk of a generation did not list. */
const forgetUnvisited = (transaction: Transaction, generation: number): Promise<number> =>
  transaction.$executeRaw`DELETE FROM catalog_skipped WHERE kind = 'template' AND generation < ${generation}`;

const forgetCategories = (transaction: Transaction): Promise<number> =>
  transaction.$executeRaw`DELETE FROM catalog_skipped WHERE kind = 'category'`;

/**
 * Whether the full walk of a generation listed a template without a readable id. It can be any
 * template of the mirror.
 */
async function hasUnidentified(transaction: Transaction, generation: number): Promise<boolean> {
  const [row] = await transaction.$queryRaw<{ has: boolean }[]>`
    SELECT EXISTS (
      SELECT FROM catalog_skipped WHERE kind = 'template' AND entry_id IS NULL AND generation >= ${generation}) AS has`;
  return row?.has ?? false;
}

/** The maximum number of pages that a sync fetches again. With more, syncs take turns. */
const MAX_PAGES = 10;

/**
 * The pages with skipped templates that were not fetched since a time, by the cursors that request
 * them.
 */
export async function pagesToRepeat(client: Transaction, since: Date): Promise<string[]> {
  const rows = await client.$queryRaw<{ cursor: string }[]>`
    SELECT cursor FROM catalog_skipped WHERE kind = 'template' AND cursor IS NOT NULL
    GROUP BY cursor HAVING max(fetched_at) < ${since} ORDER BY min(fetched_at), cursor LIMIT ${MAX_PAGES}`;
  return rows.map(({ cursor }) => cursor);
}

/** The recorded templates of a page: their ids, and the number of those without one. */
async function skippedOnPage(
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

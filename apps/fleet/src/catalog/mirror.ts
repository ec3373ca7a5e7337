import { type Category, fold, searchText, type Template, type TemplateUpdates } from '@svc/contract';
import type { Database } from '../database/client.ts';
import type { Prisma } from '../generated/prisma/client.ts';

type Transaction = Prisma.TransactionClient;

/** The maximum number of templates in one statement. */
const BATCH = 125;

/** Stores templates as the hub sent them, regardless of whether they are newer. */
async function storeTemplates(
  transaction: Transaction,
  templates: readonly Template[],
  generation: number,
): Promise<void> {
  for (let start = 0; start < templates.length; start += BATCH) {
    await storeBatch(transaction, templates.slice(start, start + BATCH), generation);
  }
}

async function storeBatch(transaction: Transaction, templates: readonly Template[], generation: number): Promise<void> {
  const rows = templates.map((template) => ({
    id: template.id,
    slug: template.slug,
    category_id: template.category_id,
    category_slug: template.category_slug,
    is_featured: template.is_featured,
    tags: template.tags,
    search_text: searchText(template.name, template.description),
    sort_name: fold(template.name),
    updated_at: template.updated_at,
    document: template,
  }));
  await transaction.$executeRaw`
    INSERT INTO catalog_templates
      (id, slug, category_id, category_slug, is_featured, tags, search_text, sort_name, updated_at, document, generation)
    SELECT id, slug, category_id, category_slug, is_featured, tags, search_text, sort_name, updated_at, document,
           ${generation}::int
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS r (
      id uuid, slug text, category_id uuid, category_slug text, is_featured boolean, tags text[], search_text text,
      sort_name text, updated_at timestamptz, document jsonb)
    ON CONFLICT (id) DO UPDATE SET
      slug = excluded.slug, category_id = excluded.category_id, category_slug = excluded.category_slug,
      is_featured = excluded.is_featured, tags = excluded.tags, search_text = excluded.search_text,
      sort_name = excluded.sort_name, updated_at = excluded.updated_at, document = excluded.document,
      generation = excluded.generation`;
}

/** @returns the number of deleted templates */
const dropTemplates = (transaction: Transaction, ids: readonly string[]): Promise<number> =>
  transaction.$executeRaw`DELETE FROM catalog_templates WHERE id = ANY(${ids}::uuid[])`;

/**
 * Deletes the templates that the full walk of a generation did not contain.
 * @returns the number of deleted templates
 */
const deleteUnvisited = (transaction: Transaction, generation: number): Promise<number> =>
  transaction.$executeRaw`DELETE FROM catalog_templates WHERE generation < ${generation}`;

/** Whether `deleteUnvisited` would delete all templates of a mirror that has some. */
async function wouldEmpty(transaction: Transaction, generation: number): Promise<boolean> {
  const [row] = await transaction.$queryRaw<{ would: boolean }[]>`
    SELECT EXISTS (SELECT FROM catalog_templates)
       AND NOT EXISTS (SELECT FROM catalog_templates WHERE generation >= ${generation}) AS would`;
  return row?.would ?? false;
}

async function replaceCategories(transaction: Transaction, categories: readonly Category[]): Promise<void> {
  const rows = categories.map((category) => ({
    id: category.id,
    sort_order: category.sort_order,
    sort_name: fold(category.name),
    document: category,
  }));
  await transaction.$executeRaw`DELETE FROM catalog_categories`;
  await transaction.$executeRaw`
    INSERT INTO catalog_categories (id, sort_order, sort_name, document)
    SELECT id, sort_order, sort_name, document FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS r (
      id uuid, sort_order int, sort_name text, document jsonb)`;
}

const APPLY_TIMEOUT_MS = 60_000;

/** Another run holds the lease. A run that has lost its lease must not write. */
export class LeaseLost extends Error {
  override name = 'LeaseLost';
}

/**
 * A full walk found no templates, but the mirror has some. The mirror is emptied only if the next full walk finds none
 * either.
 */
export class EmptyCatalog extends Error {
  override name = 'EmptyCatalog';
}

/** The numbers of templates that a run has stored and deleted so far. */
export interface SyncCounts {
  readonly updated: number;
  readonly removed: number;
}

/** The response of the hub that is to be stored. */
export interface HubResponse {
  readonly page: TemplateUpdates;
  /** The categories, fetched after the last page; undefined if they need not be replaced. */
  readonly categories: readonly Category[] | undefined;
}

interface SyncProgress {
  readonly generation: number;
  readonly in_full_walk: boolean;
  readonly found_empty: boolean;
}

/**
 * Stores one page and its cursor in one transaction. The last page of a full walk deletes the templates that no page
 * contained.
 * @throws LeaseLost; EmptyCatalog, after which the next walk is a full walk
 */
export async function applyPage(
  database: Database,
  owner: string,
  { response, counts }: { readonly response: HubResponse; readonly counts: SyncCounts },
): Promise<SyncCounts> {
  const { page, categories } = response;
  const apply = async (transaction: Prisma.TransactionClient): Promise<SyncCounts | 'found empty'> => {
    const progress = await lockProgress(transaction, owner);
    const generation = progress.generation + (page.reset ? 1 : 0);
    const inFullWalk = page.reset || progress.in_full_walk;
    await storeTemplates(transaction, page.templates, generation);
    const updated = counts.updated + page.templates.length;
    const removed = counts.removed + (await dropTemplates(transaction, idsOf(page.removed)));
    if (page.has_more) {
      await transaction.$executeRaw`
        UPDATE catalog_sync SET cursor = ${page.cursor}, generation = ${generation}, in_full_walk = ${inFullWalk}`;
      return { updated, removed };
    }
    if (inFullWalk && !progress.found_empty && (await wouldEmpty(transaction, generation))) {
      await transaction.$executeRaw`
        UPDATE catalog_sync SET cursor = NULL, generation = ${generation}, in_full_walk = false, found_empty = true`;
      return 'found empty';
    }
    const deleted = inFullWalk ? await deleteUnvisited(transaction, generation) : 0;
    if (categories) await replaceCategories(transaction, categories);
    await transaction.$executeRaw`
      UPDATE catalog_sync SET cursor = ${page.cursor}, checked_at = ${new Date(page.checked_at)},
        generation = ${generation}, in_full_walk = false, found_empty = false, last_success_at = now(),
        last_full = ${inFullWalk}, last_updated = ${updated}, last_removed = ${removed + deleted},
        stale_since = NULL, failures = 0`;
    return { updated, removed: removed + deleted };
  };
  const result = await database.mirrorWriter.$transaction(apply, { timeout: APPLY_TIMEOUT_MS, maxWait: 5000 });
  if (result === 'found empty') throw new EmptyCatalog();
  return result;
}

const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

async function lockProgress(transaction: Prisma.TransactionClient, owner: string): Promise<SyncProgress> {
  const [progress] = await transaction.$queryRaw<SyncProgress[]>`
    SELECT generation, in_full_walk, found_empty FROM catalog_sync WHERE lease_owner = ${owner}::uuid FOR UPDATE`;
  if (!progress) throw new LeaseLost();
  return progress;
}

import { type Category, fold, searchText, type Template, type TemplateUpdates } from '@svc/contract';
import type { Database } from '../database/client.ts';
import type { Prisma } from '../generated/prisma/client.ts';

type Transaction = Prisma.TransactionClient;

/** Templates that one statement stores. */
const BATCH = 125;

/** Stores templates as they were sent, without asking whether they are newer. */
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

/** @returns how many templates went */
const dropTemplates = (transaction: Transaction, ids: readonly string[]): Promise<number> =>
  transaction.$executeRaw`DELETE FROM catalog_templates WHERE id = ANY(${ids}::uuid[])`;

/** Drops what the full walk of a generation did not name. @returns how many templates went */
const sweep = (transaction: Transaction, generation: number): Promise<number> =>
  transaction.$executeRaw`DELETE FROM catalog_templates WHERE generation < ${generation}`;

/** Whether a sweep would leave nothing of something. */
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

/** Another run has the lease by now: this one may write no more. */
export class LeaseLost extends Error {
  override name = 'LeaseLost';
}

/** A full walk found nothing where the mirror has something: believed when it is found twice. */
export class FoundEmpty extends Error {
  override name = 'FoundEmpty';
}

/** What a run moved so far. */
export interface Moved {
  readonly updated: number;
  readonly removed: number;
}

/** What the hub answered, as it is stored. */
export interface Answered {
  readonly page: TemplateUpdates;
  /** What the categories were after a last page was answered; undefined where they need not be replaced. */
  readonly categories: readonly Category[] | undefined;
}

interface Standing {
  readonly generation: number;
  readonly in_full_walk: boolean;
  readonly found_empty: boolean;
}

/**
 * Stores one page, with the cursor after it, in one transaction. The last page of a full walk drops what none of its pages
 * named. @throws LeaseLost; FoundEmpty, and then the next walk is a full one
 */
export async function applyPage(
  database: Database,
  owner: string,
  { answered, moved }: { readonly answered: Answered; readonly moved: Moved },
): Promise<Moved> {
  const { page, categories } = answered;
  const apply = async (transaction: Prisma.TransactionClient): Promise<Moved | 'found empty'> => {
    const standing = await lockStanding(transaction, owner);
    const generation = standing.generation + (page.reset ? 1 : 0);
    const inFullWalk = page.reset || standing.in_full_walk;
    await storeTemplates(transaction, page.templates, generation);
    const updated = moved.updated + page.templates.length;
    const removed = moved.removed + (await dropTemplates(transaction, idsOf(page.removed)));
    if (page.has_more) {
      await transaction.$executeRaw`
        UPDATE catalog_sync SET cursor = ${page.cursor}, generation = ${generation}, in_full_walk = ${inFullWalk}`;
      return { updated, removed };
    }
    if (inFullWalk && !standing.found_empty && (await wouldEmpty(transaction, generation))) {
      await transaction.$executeRaw`
        UPDATE catalog_sync SET cursor = NULL, generation = ${generation}, in_full_walk = false, found_empty = true`;
      return 'found empty';
    }
    const swept = inFullWalk ? await sweep(transaction, generation) : 0;
    if (categories) await replaceCategories(transaction, categories);
    await transaction.$executeRaw`
      UPDATE catalog_sync SET cursor = ${page.cursor}, checked_at = ${new Date(page.checked_at)},
        generation = ${generation}, in_full_walk = false, found_empty = false, last_success_at = now(),
        last_full = ${inFullWalk}, last_updated = ${updated}, last_removed = ${removed + swept},
        stale_since = NULL, failures = 0`;
    return { updated, removed: removed + swept };
  };
  const result = await database.mirrorWriter.$transaction(apply, { timeout: APPLY_TIMEOUT_MS, maxWait: 5000 });
  if (result === 'found empty') throw new FoundEmpty();
  return result;
}

const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

async function lockStanding(transaction: Prisma.TransactionClient, owner: string): Promise<Standing> {
  const [standing] = await transaction.$queryRaw<Standing[]>`
    SELECT generation, in_full_walk, found_empty FROM catalog_sync WHERE lease_owner = ${owner}::uuid FOR UPDATE`;
  if (!standing) throw new LeaseLost();
  return standing;
}

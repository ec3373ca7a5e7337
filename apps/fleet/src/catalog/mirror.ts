import { type Category, fold, searchText, type Template } from '@svc/contract';
import type { Prisma } from '../generated/prisma/client.ts';

type Transaction = Prisma.TransactionClient;

/** Templates that one statement stores. */
const BATCH = 125;

/** Stores templates as they were sent, without asking whether they are newer. */
export async function storeTemplates(
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
export const dropTemplates = (transaction: Transaction, ids: readonly string[]): Promise<number> =>
  transaction.$executeRaw`DELETE FROM catalog_templates WHERE id = ANY(${ids}::uuid[])`;

/** Drops what the full walk of a generation did not name. @returns how many templates went */
export const sweep = (transaction: Transaction, generation: number): Promise<number> =>
  transaction.$executeRaw`DELETE FROM catalog_templates WHERE generation < ${generation}`;

/** Whether a sweep would leave nothing of something. */
export async function wouldEmpty(transaction: Transaction, generation: number): Promise<boolean> {
  const [row] = await transaction.$queryRaw<{ would: boolean }[]>`
    SELECT EXISTS (SELECT FROM catalog_templates)
       AND NOT EXISTS (SELECT FROM catalog_templates WHERE generation >= ${generation}) AS would`;
  return row?.would ?? false;
}

export async function replaceCategories(transaction: Transaction, categories: readonly Category[]): Promise<void> {
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

import { fold, searchText, type Template } from '@svc/contract';
import { Prisma } from '../generated/prisma/client.ts';

/** What the hub said changed. */
export interface Changes {
  readonly templates: readonly Template[];
  readonly removed: readonly { readonly id: string }[];
  /** It said everything: what it did not name is not there any more. */
  readonly full: boolean;
}

/** Templates that one statement stores: each has to end within the statement timeout. */
const BATCH = 500;

/** Brings the mirror to what the hub sent, within a transaction. @returns how many templates went */
export async function applyChanges(transaction: Prisma.TransactionClient, changes: Changes): Promise<number> {
  const { templates, removed, full } = changes;
  for (let start = 0; start < templates.length; start += BATCH) {
    await store(transaction, templates.slice(start, start + BATCH));
  }
  const gone = full
    ? Prisma.sql`NOT (id = ANY(${idsOf(templates)}::uuid[]))`
    : Prisma.sql`id = ANY(${idsOf(removed)}::uuid[])`;
  return transaction.$executeRaw`DELETE FROM catalog_templates WHERE ${gone}`;
}

const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

/** What is sent is stored as it is sent, without asking whether it is newer. */
async function store(transaction: Prisma.TransactionClient, templates: readonly Template[]): Promise<void> {
  const rows = templates.map((template) => ({
    id: template.id,
    slug: template.slug,
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
      (id, slug, category_slug, is_featured, tags, search_text, sort_name, updated_at, document)
    SELECT id, slug, category_slug, is_featured, tags, search_text, sort_name, updated_at, document
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS r (
      id uuid, slug text, category_slug text, is_featured boolean, tags text[], search_text text, sort_name text,
      updated_at timestamptz, document jsonb)
    ON CONFLICT (id) DO UPDATE SET
      slug = excluded.slug, category_slug = excluded.category_slug, is_featured = excluded.is_featured,
      tags = excluded.tags, search_text = excluded.search_text, sort_name = excluded.sort_name,
      updated_at = excluded.updated_at, document = excluded.document`;
}

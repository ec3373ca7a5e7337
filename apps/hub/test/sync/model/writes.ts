import type { CatalogTransaction } from '../../../src/database/catalog-write.ts';
import { grantKey, type TemplateScope } from '../../visibility/generated.ts';
import type { Catalog, Template } from './catalog.ts';

/** A write of a transaction. A write that is not possible in the current catalog does nothing. */
export type Write =
  | { readonly kind: 'create'; readonly slot: number; readonly rank: number; readonly scope: TemplateScope }
  | { readonly kind: 'edit'; readonly slot: number; readonly text: number }
  | { readonly kind: 'set scope'; readonly slot: number; readonly scope: Partial<TemplateScope> }
  | { readonly kind: 'delete'; readonly slot: number }
  | { readonly kind: 'set status'; readonly slot: number; readonly text: number }
  | { readonly kind: 'advise' | 'withdraw'; readonly slot: number; readonly text: number }
  | { readonly kind: 'swap slugs'; readonly slot: number; readonly with: number }
  | { readonly kind: 'rename'; readonly category: number; readonly name: number }
  | { readonly kind: 'set privacy'; readonly category: number; readonly isPrivate: boolean }
  | { readonly kind: 'replace'; readonly category: number }
  | { readonly kind: 'grant' | 'revoke'; readonly organization: number; readonly category: number };

type Of<K extends Write['kind']> = Extract<Write, { readonly kind: K }>;

/** The tables of the catalog, and the model of the catalog before the write. */
export interface WriteContext {
  readonly tables: CatalogTransaction;
  readonly catalog: Catalog;
  readonly organizations: readonly string[];
  /** Creates a unique id. Ids sort by rank. */
  newId(rank: number): string;
}

/** Applies a write to the tables. @returns the model of the catalog after the write */
export async function write(context: WriteContext, given: Write): Promise<Catalog> {
  switch (given.kind) {
    case 'create':
      return create(context, given);
    case 'edit':
    case 'set scope':
    case 'delete':
      return change(context, given);
    case 'set status':
    case 'advise':
    case 'withdraw':
      return advise(context, given);
    case 'swap slugs':
      return swap(context, given);
    case 'rename':
    case 'set privacy':
      return changeCategory(context, given);
    case 'replace':
      return replace(context, given);
    case 'grant':
    case 'revoke':
      return setGrant(context, given);
  }
}

const slugOf = (slot: number) => `template-${slot}`;

const columnsOf = ({ catalog, organizations }: WriteContext, { isPublic, category, owner }: TemplateScope) => ({
  is_public: isPublic,
  category_id: catalog.categories[category]?.id ?? '',
  owner_org_id: owner === undefined ? null : (organizations[owner] ?? null),
});

const withTemplate = (catalog: Catalog, slot: number, template: Template | undefined): Catalog => ({
  ...catalog,
  templates: catalog.templates.with(slot, template),
});

async function create(context: WriteContext, { slot, rank, scope }: Of<'create'>): Promise<Catalog> {
  const { tables, catalog } = context;
  if (catalog.templates[slot]) return catalog;
  const id = context.newId(rank);
  const derived = { sort_name: id, search_text: id };
  await tables.template.create({
    data: { id, name: id, slug: slugOf(slot), ...derived, ...columnsOf(context, scope) },
  });
  return withTemplate(catalog, slot, { ...scope, id });
}

async function change(context: WriteContext, given: Of<'edit' | 'set scope' | 'delete'>): Promise<Catalog> {
  const { tables, catalog } = context;
  const template = catalog.templates[given.slot];
  if (!template) return catalog;
  const where = { id: template.id };
  if (given.kind === 'delete') {
    await tables.template.delete({ where });
    return withTemplate(catalog, given.slot, undefined);
  }
  const changed = given.kind === 'set scope' ? { ...template, ...given.scope } : template;
  const data = given.kind === 'set scope' ? columnsOf(context, changed) : { description: `text ${given.text}` };
  await tables.template.update({ where, data });
  return withTemplate(catalog, given.slot, changed);
}

/** Changes what a template shows beside its content. */
async function advise(
  { tables, catalog }: WriteContext,
  { kind, slot, text }: Of<'set status' | 'advise' | 'withdraw'>,
): Promise<Catalog> {
  const template_id = catalog.templates[slot]?.id;
  if (template_id === undefined) return catalog;
  const message = `text ${text}`;
  if (kind === 'set status') {
    const data = { status: text % 2 ? 'deprecated' : 'active', status_message: message };
    await tables.template.update({ where: { id: template_id }, data });
  } else if (kind === 'advise') {
    await tables.templateAdvisory.create({ data: { template_id, severity: 'warning', message, first_revision: 1 } });
  } else {
    const where = { template_id, withdrawn_at: null };
    await tables.templateAdvisory.updateMany({ where, data: { withdrawn_at: new Date() } });
  }
  return catalog;
}

/** Swaps the slugs of two slots. If one slot is empty, the template moves to it. */
async function swap({ tables, catalog }: WriteContext, given: Of<'swap slugs'>): Promise<Catalog> {
  const one = catalog.templates[given.slot];
  const other = catalog.templates[given.with];
  const rename = (template: Template | undefined, slug: string) =>
    template && tables.template.update({ where: { id: template.id }, data: { slug } });
  if (one === other) return catalog;
  await rename(one, 'on-its-way');
  await rename(other, slugOf(given.slot));
  await rename(one, slugOf(given.with));
  return withTemplate(withTemplate(catalog, given.slot, other), given.with, one);
}

async function changeCategory(
  { tables, catalog }: WriteContext,
  given: Of<'rename' | 'set privacy'>,
): Promise<Catalog> {
  const { id = '', isPrivate = false } = catalog.categories[given.category] ?? {};
  const changed = { id, isPrivate: given.kind === 'rename' ? isPrivate : given.isPrivate };
  const data = given.kind === 'rename' ? { name: `name ${given.name}` } : { is_private: given.isPrivate };
  await tables.category.update({ where: { id }, data });
  return { ...catalog, categories: catalog.categories.with(given.category, changed) };
}

/**
 * Replaces a category by a new open category with its slug and templates. The old category is
 * deleted with its grants.
 */
async function replace(context: WriteContext, { category }: Of<'replace'>): Promise<Catalog> {
  const { tables, catalog } = context;
  const old = catalog.categories[category]?.id ?? '';
  const id = context.newId(0);
  await tables.category.update({ where: { id: old }, data: { slug: 'on-its-way' } });
  await createCategory(tables, { id, isPrivate: false, category });
  await tables.template.updateMany({ where: { category_id: old }, data: { category_id: id } });
  await tables.category.delete({ where: { id: old } });
  return {
    ...catalog,
    categories: catalog.categories.with(category, { id, isPrivate: false }),
    grants: new Set([...catalog.grants].filter((grant) => !grant.endsWith(`:${category}`))),
  };
}

/** Creates the category with the given index. */
export async function createCategory(
  tables: CatalogTransaction,
  given: { readonly id: string; readonly isPrivate: boolean; readonly category: number },
) {
  const slug = `category-${given.category}`;
  const { id, isPrivate: is_private } = given;
  await tables.category.create({ data: { id, name: slug, slug, sort_name: slug, is_private } });
}

async function setGrant(
  { tables, catalog, organizations }: WriteContext,
  { kind, organization, category }: Of<'grant' | 'revoke'>,
): Promise<Catalog> {
  const grant = grantKey(organization, category);
  if (catalog.grants.has(grant) === (kind === 'grant')) return catalog;
  const pair = { org_id: organizations[organization] ?? '', category_id: catalog.categories[category]?.id ?? '' };
  if (kind === 'revoke') {
    await tables.catalogAccess.deleteMany({ where: pair });
    return { ...catalog, grants: new Set([...catalog.grants].filter((other) => other !== grant)) };
  }
  await tables.catalogAccess.create({ data: pair });
  return { ...catalog, grants: new Set([...catalog.grants, grant]) };
}

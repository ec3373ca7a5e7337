import type { CatalogTransaction } from '../../src/database/catalog-write.ts';
import { key, type Placed } from '../visibility/generated.ts';
import type { Catalog, Template } from './model-catalog.ts';

/** What one transaction does, once or several times. Where it fits nothing, nothing is done. */
export type Write =
  | { readonly kind: 'create'; readonly place: number; readonly rank: number; readonly placed: Placed }
  | { readonly kind: 'edit'; readonly place: number; readonly text: number }
  | { readonly kind: 'put'; readonly place: number; readonly into: Partial<Placed> }
  | { readonly kind: 'delete'; readonly place: number }
  | { readonly kind: 'swap slugs'; readonly place: number; readonly with: number }
  | { readonly kind: 'rename'; readonly category: number; readonly name: number }
  | { readonly kind: 'set privacy'; readonly category: number; readonly isPrivate: boolean }
  | { readonly kind: 'replace'; readonly category: number }
  | { readonly kind: 'grant' | 'revoke'; readonly organization: number; readonly category: number };

type Of<K extends Write['kind']> = Extract<Write, { readonly kind: K }>;

/** Where writes go: the catalog's tables, beside the catalog as it was before. */
export interface Writing {
  readonly tables: CatalogTransaction;
  readonly catalog: Catalog;
  readonly organizations: readonly string[];
  /** An id that was never given before; ids are in the order of their ranks. */
  newId(rank: number): string;
}

/** Does a write to the tables. @returns the catalog as it is then */
export async function write(writing: Writing, given: Write): Promise<Catalog> {
  switch (given.kind) {
    case 'create':
      return create(writing, given);
    case 'edit':
    case 'put':
    case 'delete':
      return change(writing, given);
    case 'swap slugs':
      return swap(writing, given);
    case 'rename':
    case 'set privacy':
      return changeCategory(writing, given);
    case 'replace':
      return replace(writing, given);
    case 'grant':
    case 'revoke':
      return setGrant(writing, given);
  }
}

const slugOf = (place: number) => `template-${place}`;

const columnsOf = ({ catalog, organizations }: Writing, { isPublic, category, owner }: Placed) => ({
  is_public: isPublic,
  category_id: catalog.categories[category]?.id ?? '',
  owner_org_id: owner === undefined ? null : (organizations[owner] ?? null),
});

const withTemplate = (catalog: Catalog, place: number, template: Template | undefined): Catalog => ({
  ...catalog,
  templates: catalog.templates.with(place, template),
});

async function create(writing: Writing, { place, rank, placed }: Of<'create'>): Promise<Catalog> {
  const { tables, catalog } = writing;
  if (catalog.templates[place]) return catalog;
  const id = writing.newId(rank);
  const derived = { sort_name: id, search_text: id };
  await tables.template.create({
    data: { id, name: id, slug: slugOf(place), ...derived, ...columnsOf(writing, placed) },
  });
  return withTemplate(catalog, place, { ...placed, id });
}

async function change(writing: Writing, given: Of<'edit' | 'put' | 'delete'>): Promise<Catalog> {
  const { tables, catalog } = writing;
  const template = catalog.templates[given.place];
  if (!template) return catalog;
  const where = { id: template.id };
  if (given.kind === 'delete') {
    await tables.template.delete({ where });
    return withTemplate(catalog, given.place, undefined);
  }
  const changed = given.kind === 'put' ? { ...template, ...given.into } : template;
  const data = given.kind === 'put' ? columnsOf(writing, changed) : { description: `text ${given.text}` };
  await tables.template.update({ where, data });
  return withTemplate(catalog, given.place, changed);
}

/** Where only one of the two slugs is taken, it is given up for the other. */
async function swap({ tables, catalog }: Writing, given: Of<'swap slugs'>): Promise<Catalog> {
  const [one, other] = [catalog.templates[given.place], catalog.templates[given.with]];
  const rename = (template: Template | undefined, slug: string) =>
    template && tables.template.update({ where: { id: template.id }, data: { slug } });
  if (one === other) return catalog;
  await rename(one, 'on-its-way');
  await rename(other, slugOf(given.place));
  await rename(one, slugOf(given.with));
  return withTemplate(withTemplate(catalog, given.place, other), given.with, one);
}

async function changeCategory({ tables, catalog }: Writing, given: Of<'rename' | 'set privacy'>): Promise<Catalog> {
  const { id = '', isPrivate = false } = catalog.categories[given.category] ?? {};
  const changed = { id, isPrivate: given.kind === 'rename' ? isPrivate : given.isPrivate };
  const data = given.kind === 'rename' ? { name: `name ${given.name}` } : { is_private: given.isPrivate };
  await tables.category.update({ where: { id }, data });
  return { ...catalog, categories: catalog.categories.with(given.category, changed) };
}

/** Another category takes the slug and the templates of one that is deleted, with its grants; it is open. */
async function replace(writing: Writing, { category }: Of<'replace'>): Promise<Catalog> {
  const { tables, catalog } = writing;
  const old = catalog.categories[category]?.id ?? '';
  const id = writing.newId(0);
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

/** A category in its place. */
export async function createCategory(
  tables: CatalogTransaction,
  given: { readonly id: string; readonly isPrivate: boolean; readonly category: number },
) {
  const slug = `category-${given.category}`;
  const { id, isPrivate: is_private } = given;
  await tables.category.create({ data: { id, name: slug, slug, sort_name: slug, is_private } });
}

async function setGrant(
  { tables, catalog, organizations }: Writing,
  { kind, organization, category }: Of<'grant' | 'revoke'>,
): Promise<Catalog> {
  const grant = key(organization, category);
  if (catalog.grants.has(grant) === (kind === 'grant')) return catalog;
  const pair = { org_id: organizations[organization] ?? '', category_id: catalog.categories[category]?.id ?? '' };
  if (kind === 'revoke') {
    await tables.catalogAccess.deleteMany({ where: pair });
    return { ...catalog, grants: new Set([...catalog.grants].filter((other) => other !== grant)) };
  }
  await tables.catalogAccess.create({ data: pair });
  return { ...catalog, grants: new Set([...catalog.grants, grant]) };
}

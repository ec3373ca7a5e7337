import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { CatalogTransaction } from '../../src/database/catalog-write.ts';

/** An organization of the generated worlds, by its place among them. */
export const ORGANIZATIONS = 3;

export interface Placed {
  readonly isPublic: boolean;
  /** Places of the category, and of the organization that owns it. */
  readonly category: number;
  readonly owner: number | undefined;
}

/** A catalog as far as visibility goes. */
export interface Model {
  readonly privacy: boolean[];
  readonly templates: (Placed | undefined)[];
  /** "organization:category" of each grant. */
  readonly grants: Set<string>;
}

export type Step =
  | { readonly kind: 'place'; readonly template: number; readonly placed: Placed }
  | { readonly kind: 'delete'; readonly template: number }
  | { readonly kind: 'rename'; readonly category: number; readonly name: string }
  | { readonly kind: 'set privacy'; readonly category: number; readonly isPrivate: boolean }
  | { readonly kind: 'grant' | 'revoke'; readonly organization: number; readonly category: number };

const CATEGORIES = 3;
const TEMPLATES = 5;
const category = fc.nat(CATEGORIES - 1);
const template = fc.nat(TEMPLATES - 1);
const organization = fc.nat(ORGANIZATIONS - 1);
const placed = fc.record({ isPublic: fc.boolean(), category, owner: fc.option(organization, { nil: undefined }) });

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('place' as const), template, placed }) },
  fc.record({ kind: fc.constant('delete' as const), template }),
  fc.record({ kind: fc.constant('rename' as const), category, name: fc.constantFrom('One', 'Two') }),
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('set privacy' as const), category, isPrivate: fc.boolean() }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom('grant' as const, 'revoke' as const), organization, category }),
  },
);

/** A world: what it begins with, and what is done to it. */
export const worlds = fc.record({
  privacy: fc.array(fc.constantFrom(true, true, false), { minLength: CATEGORIES, maxLength: CATEGORIES }),
  templates: fc.array(placed, { minLength: 1, maxLength: TEMPLATES, size: 'max' }),
  grants: fc.uniqueArray(fc.tuple(organization, category), { selector: String, maxLength: 3, size: 'max' }),
  steps: fc.array(step, { minLength: 1, maxLength: 6, size: 'max' }),
});

export const key = (organization: number, category: number) => `${organization}:${category}`;

/** The rows that stand for the places of a model. */
export interface Rows {
  readonly organizations: readonly string[];
  readonly categories: readonly string[];
  readonly templates: readonly string[];
}

export const newRows = (organizations: readonly string[]): Rows => ({
  organizations,
  categories: Array.from({ length: CATEGORIES }, () => randomUUID()),
  templates: Array.from({ length: TEMPLATES }, () => randomUUID()),
});

const columnsOf = (rows: Rows, { isPublic, category, owner }: Placed) => ({
  is_public: isPublic,
  category_id: rows.categories[category] ?? '',
  owner_org_id: owner === undefined ? null : (rows.organizations[owner] ?? null),
});

/** Empties the catalog and writes a model into it. */
export async function write(catalog: CatalogTransaction, rows: Rows, { privacy, templates, grants }: Model) {
  await catalog.template.deleteMany();
  await catalog.category.deleteMany(); // with its grants
  await catalog.category.createMany({
    data: privacy.map((is_private, n) => {
      const slug = `category-${n}`;
      return { id: rows.categories[n] ?? '', name: slug, slug, sort_name: slug, is_private };
    }),
  });
  for (const [n, given] of templates.entries()) if (given) await place(catalog, rows, { template: n, placed: given });
  const pairs = [...grants].map((pair) => pair.split(':').map(Number));
  await catalog.catalogAccess.createMany({
    data: pairs.map(([o = 0, c = 0]) => ({
      org_id: rows.organizations[o] ?? '',
      category_id: rows.categories[c] ?? '',
    })),
  });
}

async function place(catalog: CatalogTransaction, rows: Rows, given: { template: number; placed: Placed }) {
  const slug = `template-${given.template}`;
  const columns = columnsOf(rows, given.placed);
  await catalog.template.upsert({
    where: { id: rows.templates[given.template] ?? '' },
    create: {
      id: rows.templates[given.template] ?? '',
      name: slug,
      slug,
      sort_name: slug,
      search_text: slug,
      ...columns,
    },
    update: columns,
  });
}

/** Does a step to the catalog and to the model. */
export async function take(catalog: CatalogTransaction, rows: Rows, { model, step }: { model: Model; step: Step }) {
  switch (step.kind) {
    case 'place':
      model.templates[step.template] = step.placed;
      return place(catalog, rows, step);
    case 'delete':
      model.templates[step.template] = undefined;
      return catalog.template.deleteMany({ where: { id: rows.templates[step.template] ?? '' } });
    case 'rename':
      return catalog.category.update({
        where: { id: rows.categories[step.category] ?? '' },
        data: { name: step.name },
      });
    case 'set privacy':
      model.privacy[step.category] = step.isPrivate;
      return catalog.category.update({
        where: { id: rows.categories[step.category] ?? '' },
        data: { is_private: step.isPrivate },
      });
    case 'grant':
    case 'revoke':
      return setGrant(catalog, rows, { model, step });
  }
}

async function setGrant(
  catalog: CatalogTransaction,
  rows: Rows,
  { model, step }: { model: Model; step: Extract<Step, { organization: number }> },
) {
  const pair = {
    org_id: rows.organizations[step.organization] ?? '',
    category_id: rows.categories[step.category] ?? '',
  };
  const name = key(step.organization, step.category);
  if (step.kind === 'revoke') {
    model.grants.delete(name);
    await catalog.catalogAccess.deleteMany({ where: pair });
  } else if (!model.grants.has(name)) {
    model.grants.add(name);
    await catalog.catalogAccess.create({ data: pair });
  }
}

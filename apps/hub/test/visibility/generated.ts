import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { CatalogTransaction } from '../../src/database/catalog-write.ts';

/** The number of organizations in a scenario. The model refers to rows by their index. */
export const ORGANIZATIONS = 3;

export interface TemplateScope {
  readonly isPublic: boolean;
  /** Indexes of the category and of the owner. */
  readonly category: number;
  readonly owner: number | undefined;
}

/** The part of a catalog that determines visibility. */
export interface CatalogModel {
  readonly privacy: boolean[];
  readonly templates: (TemplateScope | undefined)[];
  /** "organization:category" of each grant. */
  readonly grants: Set<string>;
}

export type Step =
  | { readonly kind: 'upsert'; readonly template: number; readonly scope: TemplateScope }
  | { readonly kind: 'delete'; readonly template: number }
  | { readonly kind: 'rename'; readonly category: number; readonly name: string }
  | { readonly kind: 'set privacy'; readonly category: number; readonly isPrivate: boolean }
  | { readonly kind: 'grant' | 'revoke'; readonly organization: number; readonly category: number };

const CATEGORIES = 3;
const TEMPLATES = 5;
const category = fc.nat(CATEGORIES - 1);
const template = fc.nat(TEMPLATES - 1);
const organization = fc.nat(ORGANIZATIONS - 1);
const scope = fc.record({ isPublic: fc.boolean(), category, owner: fc.option(organization, { nil: undefined }) });

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('upsert' as const), template, scope }) },
  fc.record({ kind: fc.constant('delete' as const), template }),
  fc.record({ kind: fc.constant('rename' as const), category, name: fc.constantFrom('One', 'Two') }),
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('set privacy' as const), category, isPrivate: fc.boolean() }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom('grant' as const, 'revoke' as const), organization, category }),
  },
);

const start = {
  privacy: fc.array(fc.constantFrom(true, true, false), { minLength: CATEGORIES, maxLength: CATEGORIES }),
  templates: fc.array(scope, { minLength: 1, maxLength: TEMPLATES, size: 'max' }),
  grants: fc.uniqueArray(fc.tuple(organization, category), { selector: String, maxLength: 3, size: 'max' }),
};

/** A catalog and a sequence of changes. */
export const scenarios = fc.record({
  ...start,
  steps: fc.array(step, { minLength: 1, maxLength: 6, size: 'max' }),
});

/** What a step changes. The steps of a transaction change different objects. */
const objectOf = (step: Step): string => {
  switch (step.kind) {
    case 'upsert':
    case 'delete':
      return `template ${step.template}`;
    case 'rename':
      return `name ${step.category}`;
    case 'set privacy':
      return `privacy ${step.category}`;
    case 'grant':
    case 'revoke':
      return `grant ${step.organization} ${step.category}`;
  }
};

/** A catalog and transactions with one or more changes each. Clients then ask for changes since up to `back` commits ago. */
export const histories = (transactions: number) =>
  fc.record({
    ...start,
    transactions: fc.array(
      fc.record({
        steps: fc.uniqueArray(step, { selector: objectOf, minLength: 1, maxLength: 8, size: 'max' }),
        back: fc.integer({ min: 1, max: 6 }),
      }),
      { minLength: transactions, maxLength: transactions },
    ),
  });

export const grantKey = (organization: number, category: number) => `${organization}:${category}`;

/** An organization is identified by its index. */
export type Caller = 'anonymous' | 'administrator' | number;

/** Why a caller sees a template: it is open to all, its organization owns it, or a grant for a private category shows it. */
export type Reason = 'administrator' | 'open' | 'owned' | 'granted';

/** The visibility rule in TypeScript: the reasons for which a caller sees a template. Without a reason, it is invisible. */
export function reasonsFor(
  caller: Caller,
  { isPublic, category, owner }: TemplateScope,
  { privacy, grants }: CatalogModel,
): Reason[] {
  if (caller === 'administrator') return ['administrator'];
  const isOpen = privacy[category] === false;
  const reasons: Reason[] = isPublic && isOpen ? ['open'] : [];
  if (caller === 'anonymous') return reasons;
  if (owner === caller) reasons.push('owned');
  const isShownByGrants = !isOpen && (isPublic || owner === undefined || owner === caller);
  if (isShownByGrants && grants.has(grantKey(caller, category))) reasons.push('granted');
  return reasons;
}

/** The ids of the rows, by index in the model. */
export interface Ids {
  readonly organizations: readonly string[];
  readonly categories: readonly string[];
  readonly templates: readonly string[];
}

export const newIds = (organizations: readonly string[]): Ids => ({
  organizations,
  categories: Array.from({ length: CATEGORIES }, () => randomUUID()),
  templates: Array.from({ length: TEMPLATES }, () => randomUUID()),
});

const columnsOf = (ids: Ids, { isPublic, category, owner }: TemplateScope) => ({
  is_public: isPublic,
  category_id: ids.categories[category] ?? '',
  owner_org_id: owner === undefined ? null : (ids.organizations[owner] ?? null),
});

/** Replaces the catalog by the content of a model. */
export async function writeModel(catalog: CatalogTransaction, ids: Ids, { privacy, templates, grants }: CatalogModel) {
  // Objects of both kinds, because a test of the other kind can have run before.
  await catalog.$executeRaw`DELETE FROM templates`;
  await catalog.$executeRaw`DELETE FROM applications`;
  await catalog.category.deleteMany(); // also deletes its grants
  await catalog.category.createMany({
    data: privacy.map((is_private, n) => {
      const slug = `category-${n}`;
      return { id: ids.categories[n] ?? '', name: slug, slug, sort_name: slug, is_private };
    }),
  });
  for (const [n, given] of templates.entries())
    if (given) await upsertTemplate(catalog, ids, { template: n, scope: given });
  const pairs = [...grants].map((pair) => pair.split(':').map(Number));
  await catalog.catalogAccess.createMany({
    data: pairs.map(([o = 0, c = 0]) => ({
      org_id: ids.organizations[o] ?? '',
      category_id: ids.categories[c] ?? '',
    })),
  });
}

async function upsertTemplate(
  catalog: CatalogTransaction,
  ids: Ids,
  given: { template: number; scope: TemplateScope },
) {
  const slug = `template-${given.template}`;
  const columns = columnsOf(ids, given.scope);
  await catalog.template.upsert({
    where: { id: ids.templates[given.template] ?? '' },
    create: {
      id: ids.templates[given.template] ?? '',
      name: slug,
      slug,
      sort_name: slug,
      search_text: slug,
      ...columns,
    },
    update: columns,
  });
}

/** Applies a step to the catalog and to the model. */
export async function applyStep(
  catalog: CatalogTransaction,
  ids: Ids,
  { model, step }: { model: CatalogModel; step: Step },
) {
  switch (step.kind) {
    case 'upsert':
      model.templates[step.template] = step.scope;
      return upsertTemplate(catalog, ids, step);
    case 'delete':
      model.templates[step.template] = undefined;
      return catalog.template.deleteMany({ where: { id: ids.templates[step.template] ?? '' } });
    case 'rename':
      return catalog.category.update({
        where: { id: ids.categories[step.category] ?? '' },
        data: { name: step.name },
      });
    case 'set privacy':
      model.privacy[step.category] = step.isPrivate;
      return catalog.category.update({
        where: { id: ids.categories[step.category] ?? '' },
        data: { is_private: step.isPrivate },
      });
    case 'grant':
    case 'revoke':
      return setGrant(catalog, ids, { model, step });
  }
}

async function setGrant(
  catalog: CatalogTransaction,
  ids: Ids,
  { model, step }: { model: CatalogModel; step: Extract<Step, { organization: number }> },
) {
  const pair = {
    org_id: ids.organizations[step.organization] ?? '',
    category_id: ids.categories[step.category] ?? '',
  };
  const name = grantKey(step.organization, step.category);
  if (step.kind === 'revoke') {
    model.grants.delete(name);
    await catalog.catalogAccess.deleteMany({ where: pair });
  } else if (!model.grants.has(name)) {
    model.grants.add(name);
    await catalog.catalogAccess.create({ data: pair });
  }
}

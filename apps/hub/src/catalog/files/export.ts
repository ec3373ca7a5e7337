import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { adviceDefaults, categoryFields, slug, templateDefaults } from '@svc/contract';
import { partsOf } from '@svc/http';
import type { Database } from '../../database/client.ts';
import { CATEGORIES, type CatalogFiles } from './catalog-files.ts';
import { categoriesIn, type Extent, refuseBeyond, templatesIn } from './extent.ts';
import { plain } from './import.ts';

const EXPORT_TIMEOUT_MS = 10 * 60_000;

const { status, status_message, replacement } = adviceDefaults;
const DEFAULTS = { ...templateDefaults, status, status_message, replacement };
// Object.keys returns string[].
const FIELDS = Object.keys(DEFAULTS) as (keyof typeof DEFAULTS)[];

type Template = Readonly<Record<keyof typeof DEFAULTS, unknown>> & {
  readonly id: string;
  readonly slug: string;
  readonly category: string;
  readonly owner: string | null;
  readonly signatures: string[];
};

/** What an export contains. */
interface CatalogRows {
  readonly categories: readonly (object & { readonly slug: string })[];
  readonly templates: readonly Template[];
}

/**
 * Reads the catalog in one snapshot, in parts. An extent with categories does not show who owns a
 * template, because organizations are outside it. @throws 413
 */
export async function readCatalogRows({ client }: Pick<Database, 'client'>, extent: Extent): Promise<CatalogRows> {
  const where = templatesIn(extent);
  return client.$transaction(
    async ({ category, template }) => {
      const counted = await template.aggregate({ where, _count: true, _sum: { weight: true } });
      const categoryCount = await category.count({ where: categoriesIn(extent) });
      refuseBeyond(extent, {
        categories: categoryCount,
        templates: counted._count,
        bytes: counted._sum.weight ?? 0,
      });
      const categories = await category.findMany({
        where: categoriesIn(extent),
        orderBy: [{ sort_order: 'asc' }, { sort_name: 'asc' }, { id: 'asc' }],
      });
      const sizes = await template.findMany({ where, select: { id: true, weight: true }, orderBy: { slug: 'asc' } });
      const templates: Template[] = [];
      for (const ids of partsOf(sizes.map(({ id, weight }) => ({ key: id, bytes: weight })))) {
        const rows = await template.findMany({
          where: { id: { in: ids } },
          include: { category: { select: { slug: true } }, owner: { select: { slug: true } } },
          orderBy: { slug: 'asc' },
        });
        for (const {
          category: { slug: categorySlug },
          owner,
          ...row
        } of rows) {
          const shownOwner = extent.categoryIds === undefined ? (owner?.slug ?? null) : null;
          templates.push({ ...row, category: categorySlug, owner: shownOwner });
        }
      }
      return { categories, templates };
    },
    { isolationLevel: 'RepeatableRead', timeout: EXPORT_TIMEOUT_MS },
  );
}

/** The signatures of the templates that have some, by slug. */
export const signaturesIn = ({ templates }: Pick<CatalogRows, 'templates'>): Record<string, string[]> =>
  Object.fromEntries(
    templates.filter(({ signatures }) => signatures.length > 0).map(({ slug, signatures }) => [slug, signatures]),
  );

/** A file that an export writes; null: that it keeps as it is; undefined: that it deletes. */
export interface FileChange {
  readonly file: string;
  readonly content: unknown;
  readonly text: string;
}

/** Files without a catalog. */
export const NO_FILES: CatalogFiles = { categories: [], templates: [], warnings: [], ignored: [] };

/**
 * The changes that make files describe the catalog: only files whose objects differ are written.
 * Fields with their default are omitted. With `prune`, the files and entries of objects that the
 * catalog does not have are deleted.
 */
export const changesOfFiles = (
  { categories, templates }: CatalogRows,
  existing: CatalogFiles,
  prune: boolean,
): readonly FileChange[] => [
  ...changeOfCategories(categories, existing.categories, prune),
  ...changesOfTemplates(templates, existing.templates, prune),
];

const CATEGORY_MEMBERS = ['slug', 'name', ...Object.keys(categoryFields)];

function changeOfCategories(
  rows: CatalogRows['categories'],
  existing: CatalogFiles['categories'],
  prune: boolean,
): FileChange[] {
  const bySlug = new Map(existing.map((entry) => [entry.slug, entry]));
  const known = new Set(rows.map(({ slug }) => slug));
  const changed = rows.filter((row) => differences(CATEGORY_MEMBERS, row, bySlug.get(row.slug)).length > 0);
  const others = existing.filter(({ slug }) => !known.has(slug));
  const kept = prune ? [] : others;
  const notes = kept.map(({ slug }) => ({
    file: CATEGORIES,
    content: null,
    text: `keep category ${slug} in ${CATEGORIES}: the hub does not have it`,
  }));
  if (changed.length === 0 && others.length === kept.length && existing.length > 0) return notes;
  const slugs = [...changed, ...(prune ? others : [])].map(({ slug }) => slug);
  const content = [...rows, ...kept].map((row) => pick(row, CATEGORY_MEMBERS));
  const verb = existing.length === 0 ? 'create' : 'update';
  return [
    ...notes,
    { file: CATEGORIES, content, text: `${verb} ${CATEGORIES}${slugs.length > 0 ? ` (${slugs.join(', ')})` : ''}` },
  ];
}

const TEMPLATE_MEMBERS = ['name', 'category', 'owner', ...FIELDS];

function changesOfTemplates(
  rows: CatalogRows['templates'],
  existing: CatalogFiles['templates'],
  prune: boolean,
): FileChange[] {
  const bySlug = new Map(existing.map((entry) => [entry.slug, entry]));
  const known = new Set(rows.map(({ slug }) => slug));
  const written = rows.flatMap((row) => {
    const before = bySlug.get(row.slug);
    const members = differences(
      TEMPLATE_MEMBERS,
      row,
      before && { ...DEFAULTS, ...before, owner: before.owner ?? null },
    );
    if (members.length === 0) return [];
    const name = slug.safeParse(row.slug).success ? row.slug : row.id; // earlier versions stored other slugs
    const file = before?.file ?? path.join('templates', `${name}.yaml`);
    return [
      { file, content: contentOf(row), text: before ? `update ${file} (${members.join(', ')})` : `create ${file}` },
    ];
  });
  const others = existing
    .filter(({ slug }) => !known.has(slug))
    .map(({ file, slug }) =>
      prune
        ? { file, content: undefined, text: `delete ${file}` }
        : { file, content: null, text: `keep ${file}: the hub does not have the template ${slug}` },
    );
  return [...written, ...others];
}

/** The members of a row that differ from what a file describes; all if there is no file. */
function differences(members: readonly string[], row: object, described: object | undefined): string[] {
  if (!described) return [...members];
  const after = new Map(Object.entries(row));
  const before = new Map(Object.entries(described));
  return members.filter((member) => !isDeepStrictEqual(plain(after.get(member)), plain(before.get(member))));
}

function contentOf(row: Template) {
  const content = { ...pick(row, ['name', 'slug']), category: row.category, ...nonDefaultFields(row) };
  return row.owner === null ? content : { ...content, owner: row.owner };
}

const pick = (row: object, members: readonly string[]) =>
  Object.fromEntries(Object.entries(row).filter(([member]) => members.includes(member)));

/** The fields of a template that differ from their defaults. */
const nonDefaultFields = (row: Template) =>
  Object.fromEntries(
    FIELDS.filter((field) => !isDeepStrictEqual(row[field], DEFAULTS[field])).map((field) => [field, row[field]]),
  );

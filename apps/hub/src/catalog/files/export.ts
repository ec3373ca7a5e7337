import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { categoryFields, partDefaults, slug } from '@svc/contract';
import { partsOf } from '@svc/http';
import type { Database } from '../../database/client.ts';
import { CATEGORIES, type CatalogFiles } from './catalog-files.ts';
import { categoriesIn, type Extent, objectsIn, refuseBeyond } from './extent.ts';
import { plain } from './import.ts';
import { nouns, type ObjectNoun, objectNouns, tableOf } from './objects.ts';

const EXPORT_TIMEOUT_MS = 10 * 60_000;

interface ObjectRow {
  readonly id: string;
  readonly slug: string;
  readonly category: string;
  readonly owner: string | null;
}

type SignedRow = ObjectRow & { readonly signatures: string[] };

/** What an export contains. */
interface CatalogRows {
  readonly categories: readonly (object & { readonly slug: string })[];
  readonly templates: readonly SignedRow[];
  readonly applications: readonly SignedRow[];
}

/**
 * Reads the catalog in one snapshot, in parts. An extent with categories does not show who owns an
 * object, because organizations are outside it. @throws 413
 */
export async function readCatalogRows({ client }: Pick<Database, 'client'>, extent: Extent): Promise<CatalogRows> {
  const where = objectsIn(extent);
  return client.$transaction(
    async (transaction) => {
      const { category } = transaction;
      const countOf = (noun: ObjectNoun) =>
        tableOf(transaction, noun).aggregate({ where, _count: true, _sum: { weight: true } });
      const [ofTemplates, ofApplications] = [await countOf('template'), await countOf('application')];
      refuseBeyond(extent, {
        categories: await category.count({ where: categoriesIn(extent) }),
        templates: ofTemplates._count,
        applications: ofApplications._count,
        bytes: (ofTemplates._sum.weight ?? 0) + (ofApplications._sum.weight ?? 0),
      });
      const categories = await category.findMany({
        where: categoriesIn(extent),
        orderBy: [{ sort_order: 'asc' }, { sort_name: 'asc' }, { id: 'asc' }],
      });
      const readOf = (noun: ObjectNoun) => readObjects(tableOf(transaction, noun), extent);
      return { categories, templates: await readOf('template'), applications: await readOf('application') };
    },
    { isolationLevel: 'RepeatableRead', timeout: EXPORT_TIMEOUT_MS },
  );
}

/** The objects of a table in an extent, in the order of their slugs. */
async function readObjects(table: ReturnType<typeof tableOf>, extent: Extent): Promise<SignedRow[]> {
  const where = objectsIn(extent);
  const sizes = await table.findMany({ where, select: { id: true, weight: true }, orderBy: { slug: 'asc' } });
  const objects: SignedRow[] = [];
  for (const ids of partsOf(sizes.map(({ id, weight }) => ({ key: id, bytes: weight })))) {
    const rows = await table.findMany({
      where: { id: { in: ids } },
      include: { category: { select: { slug: true } }, owner: { select: { slug: true } } },
      orderBy: { slug: 'asc' },
    });
    for (const { category, owner, ...row } of rows) {
      const shownOwner = extent.categoryIds === undefined ? (owner?.slug ?? null) : null;
      objects.push({ ...row, category: category.slug, owner: shownOwner });
    }
  }
  return objects;
}

/** The signatures of the templates and applications that have some, by slug. */
export const signaturesIn = ({ templates, applications }: Pick<CatalogRows, 'templates' | 'applications'>) => ({
  templates: signaturesBySlug(templates),
  applications: signaturesBySlug(applications),
});

const signaturesBySlug = (rows: readonly SignedRow[]): Record<string, string[]> =>
  Object.fromEntries(
    rows.filter(({ signatures }) => signatures.length > 0).map(({ slug, signatures }) => [slug, signatures]),
  );

/** A file that an export writes; null: that it keeps as it is; undefined: that it deletes. */
export interface FileChange {
  readonly file: string;
  readonly content: unknown;
  readonly text: string;
}

/** Files without a catalog. */
export const NO_FILES: CatalogFiles = { categories: [], templates: [], applications: [], warnings: [], ignored: [] };

/**
 * The changes that make files describe the catalog: only files whose objects differ are written.
 * Fields with their default are omitted. With `prune`, the files and entries of objects that the
 * catalog does not have are deleted.
 */
export const changesOfFiles = (rows: CatalogRows, existing: CatalogFiles, prune: boolean): readonly FileChange[] => [
  ...changeOfCategories(rows.categories, existing.categories, prune),
  ...objectNouns.flatMap((noun) => changesOfObjects(noun, { rows, existing, prune })),
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

interface ObjectChanges {
  readonly rows: CatalogRows;
  readonly existing: CatalogFiles;
  readonly prune: boolean;
}

function changesOfObjects(noun: ObjectNoun, { rows: all, existing, prune }: ObjectChanges): FileChange[] {
  const { defaults } = nouns[noun];
  const rows: readonly ObjectRow[] = noun === 'template' ? all.templates : all.applications;
  const members = ['name', 'category', 'owner', ...Object.keys(defaults)];
  const described: readonly {
    readonly slug: string;
    readonly file: string;
    readonly owner: string | null | undefined;
  }[] = noun === 'template' ? existing.templates : existing.applications;
  const bySlug = new Map(described.map((entry) => [entry.slug, entry]));
  const known = new Set(rows.map(({ slug }) => slug));
  const written = rows.flatMap((row) => {
    const before = bySlug.get(row.slug);
    const changed = differences(members, row, before && { ...defaults, ...before, owner: before.owner ?? null });
    if (changed.length === 0) return [];
    const name = slug.safeParse(row.slug).success ? row.slug : row.id; // earlier versions stored other slugs
    const file = before?.file ?? path.join(`${noun}s`, `${name}.yaml`);
    const text = before ? `update ${file} (${changed.join(', ')})` : `create ${file}`;
    return [{ file, content: contentOf(row, defaults), text }];
  });
  const others = described
    .filter(({ slug }) => !known.has(slug))
    .map(({ file, slug }) =>
      prune
        ? { file, content: undefined, text: `delete ${file}` }
        : { file, content: null, text: `keep ${file}: the hub does not have the ${noun} ${slug}` },
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

function contentOf(row: ObjectRow, defaults: Readonly<Record<string, unknown>>) {
  const { parts, ...others } = withoutDefaults(row, defaults);
  const content = {
    ...pick(row, ['name', 'slug']),
    category: row.category,
    ...others,
    ...(Array.isArray(parts) && { parts: parts.map(contentOfPart) }),
  };
  return row.owner === null ? content : { ...content, owner: row.owner };
}

const contentOfPart = (part: object) => ({
  ...pick(part, ['name', 'image_name']),
  ...withoutDefaults(part, partDefaults),
});

const pick = (row: object, members: readonly string[]) =>
  Object.fromEntries(Object.entries(row).filter(([member]) => members.includes(member)));

/** The members of a row that differ from their defaults, in the order of these. */
function withoutDefaults(row: object, defaults: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const values = new Map(Object.entries(row));
  return Object.fromEntries(
    Object.entries(defaults).flatMap(([member, value]) =>
      isDeepStrictEqual(values.get(member), value) ? [] : [[member, values.get(member)]],
    ),
  );
}

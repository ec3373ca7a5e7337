import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { categoryFields, slug, templateDefaults, templateFieldNames } from '@svc/contract';
import { formatYaml } from '../catalog/files/yaml-text.ts';
import type { Database } from '../database/client.ts';
import { CATEGORIES, type CatalogFiles, readCatalogFiles } from './catalog-files.ts';
import { plain } from './import.ts';

interface ExportOptions {
  readonly folder: string;
  /**
   * Deletes the files and entries of objects that the hub does not have. Without it, they are kept.
   */
  readonly prune?: boolean;
}

/**
 * Writes the catalog to a folder of YAML files, from which `import` restores equal data. In a
 * folder that already contains a catalog, only files whose objects differ are written, and files
 * that do not belong to the catalog are never changed. Fields with their default are omitted.
 * @returns one line per change, and a summary
 * @throws before anything is written, if the folder contains other files but no catalog, or a
 * catalog with errors
 */
export async function exportCatalog(
  { client }: Database,
  { folder, prune = false }: ExportOptions,
): Promise<readonly string[]> {
  const existing = readExisting(folder);
  const [categories, rows] = await client.$transaction(
    [
      client.category.findMany({ orderBy: [{ sort_order: 'asc' }, { sort_name: 'asc' }, { id: 'asc' }] }),
      client.template.findMany({ include: { category: true, owner: true }, orderBy: { slug: 'asc' } }),
    ],
    { isolationLevel: 'RepeatableRead' },
  );
  const templates = rows.map(({ category, owner, ...row }) => ({
    ...row,
    category: category.slug,
    owner: owner?.slug ?? null,
  }));
  const changes = [
    ...changeOfCategories(categories, existing.categories, prune),
    ...changesOfTemplates(templates, existing.templates, prune),
  ];
  refuseOverwriting(changes, existing);
  mkdirSync(path.join(folder, 'templates'), { recursive: true });
  for (const { file, content } of changes) {
    if (content === undefined) rmSync(path.join(folder, file));
    else if (content !== null) writeFileSync(path.join(folder, file), formatYaml(content));
  }
  const total = `${categories.length} categories and ${templates.length} templates`;
  return [
    ...changes.map(({ text }) => text),
    `${total}: ${changes.filter(({ content }) => content !== null).length} files changed in ${folder}`,
  ];
}

/** A file that an export writes; null: that it keeps as it is; undefined: that it deletes. */
interface FileChange {
  readonly file: string;
  readonly content: unknown;
  readonly text: string;
}

/**
 * The catalog that a folder contains. @throws if the folder contains other files, but no catalog
 */
function readExisting(folder: string): CatalogFiles {
  if (!existsSync(folder) || readdirSync(folder).length === 0)
    return { categories: [], templates: [], warnings: [], ignored: [] };
  if (existsSync(path.join(folder, CATEGORIES))) return readCatalogFiles(folder);
  throw new Error(
    `${folder} is not empty and contains no ${CATEGORIES}. Specify an empty or new folder, or one with a catalog.`,
  );
}

/** @throws if the file for a new template describes another one */
function refuseOverwriting(changes: readonly FileChange[], { templates }: CatalogFiles): void {
  const slugs = new Map(templates.map(({ file, slug }) => [file, slug]));
  for (const { file, text } of changes) {
    if (text.startsWith('create ') && slugs.has(file)) {
      throw new Error(`${file} describes the template ${slugs.get(file)}. Rename it; nothing was changed.`);
    }
  }
}

const CATEGORY_MEMBERS = ['slug', 'name', ...Object.keys(categoryFields)];

function changeOfCategories(
  rows: readonly (object & { readonly slug: string })[],
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

type Row = Readonly<Record<(typeof templateFieldNames)[number], unknown>> & {
  readonly id: string;
  readonly slug: string;
  readonly category: string;
  readonly owner: string | null;
};

const TEMPLATE_MEMBERS = ['name', 'category', 'owner', ...templateFieldNames];

function changesOfTemplates(rows: readonly Row[], existing: CatalogFiles['templates'], prune: boolean): FileChange[] {
  const bySlug = new Map(existing.map((entry) => [entry.slug, entry]));
  const known = new Set(rows.map(({ slug }) => slug));
  const written = rows.flatMap((row) => {
    const before = bySlug.get(row.slug);
    const members = differences(TEMPLATE_MEMBERS, row, before && { ...before, owner: before.owner ?? null });
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

function contentOf(row: Row) {
  const content = { ...pick(row, ['name', 'slug']), category: row.category, ...nonDefaultFields(row) };
  return row.owner === null ? content : { ...content, owner: row.owner };
}

const pick = (row: object, members: readonly string[]) =>
  Object.fromEntries(Object.entries(row).filter(([member]) => members.includes(member)));

/** The fields of a template that differ from their defaults. */
const nonDefaultFields = (row: Row) =>
  Object.fromEntries(
    templateFieldNames
      .filter((field) => !isDeepStrictEqual(row[field], templateDefaults[field]))
      .map((field) => [field, row[field]]),
  );

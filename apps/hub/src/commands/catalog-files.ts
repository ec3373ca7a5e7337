import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { newCategory, newTemplate, parseFields, slugOf } from '@svc/contract';
import { parse } from 'yaml';
import { z } from 'zod';

/** The catalog that a folder of YAML files describes, with defaults for omitted fields. */
export interface CatalogFiles {
  readonly categories: readonly (z.output<typeof newCategory> & { readonly slug: string })[];
  readonly templates: readonly (Omit<z.output<typeof newTemplate>, 'category_id' | 'owner_org_id'> & {
    readonly slug: string;
    readonly category: string;
    /** Slug of the organization that owns the template; undefined if the file does not state an owner. */
    readonly owner: string | null | undefined;
  })[];
}

/** The errors of all files of a folder. */
export class CatalogFilesError extends Error {
  override name = 'CatalogFilesError';
  constructor(errors: readonly string[]) {
    super(['The catalog cannot be imported; nothing was changed:', ...errors.map((line) => `  ${line}`)].join('\n'));
  }
}

const UNUSED_ID = '00000000-0000-0000-0000-000000000000';

// A file refers to its category and its owner by slug, because ids differ between databases.
const templateFile = z.looseObject({
  category: z.string({ error: 'is required: the slug of a category' }),
  owner: z.string().nullable().optional(),
});

/** Reads `categories.yaml` and `templates/*.yaml`. @throws CatalogFilesError with the errors of all files */
export function readCatalogFiles(folder: string): CatalogFiles {
  const errors: string[] = [];
  const reportError = (file: string) => (issue: string) => errors.push(`${path.join(folder, file)}: ${issue}`);

  const categories = readList(folder, 'categories.yaml', reportError('categories.yaml')).flatMap((entry, index) => {
    const category = check(newCategory, entry, (issue) =>
      reportError('categories.yaml')(`entry ${index + 1}: ${issue}`),
    );
    return category ? [{ ...category, slug: category.slug ?? slugOf(category.name) }] : [];
  });
  const templates = yamlFiles(folder).flatMap((file) => {
    const content = readYaml(folder, file, reportError(file));
    const references = check(templateFile, content, reportError(file));
    if (!references) return [];
    const { category, owner, ...rest } = references;
    const template = check(newTemplate, { ...rest, category_id: UNUSED_ID }, reportError(file));
    return template
      ? [{ ...template, category, owner, slug: template.slug ?? path.basename(file, path.extname(file)) }]
      : [];
  });
  for (const list of [categories, templates]) {
    for (const slug of repeated(list.map((entry) => entry.slug)))
      errors.push(`${folder}: the slug ${slug} is used more than once`);
  }
  if (errors.length > 0) throw new CatalogFilesError(errors);
  return { categories, templates };
}

type ReportError = (issue: string) => void;

function yamlFiles(folder: string): string[] {
  const templates = path.join(folder, 'templates');
  if (!existsSync(templates)) return [];
  return readdirSync(templates)
    .filter((file) => /\.ya?ml$/.test(file))
    .sort()
    .map((file) => path.join('templates', file));
}

function readList(folder: string, file: string, reportError: ReportError): unknown[] {
  if (!existsSync(path.join(folder, file))) {
    reportError('the file does not exist; a catalog folder contains categories.yaml and templates/*.yaml');
    return [];
  }
  const content = readYaml(folder, file, reportError) ?? [];
  if (Array.isArray(content)) return content;
  reportError('must be a list of categories');
  return [];
}

function readYaml(folder: string, file: string, reportError: ReportError): unknown {
  try {
    return parse(readFileSync(path.join(folder, file), 'utf8'));
  } catch (error) {
    reportError(
      `cannot be read: ${error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : 'unknown reason'}`,
    );
    return undefined;
  }
}

function check<T extends z.ZodType>(schema: T, value: unknown, reportError: ReportError): z.output<T> | undefined {
  if (value === undefined) return undefined; // readYaml has reported the error
  const result = parseFields(schema, value);
  if (result.success) return result.data;
  for (const error of result.errors) reportError(`${error.path || 'the file'}: ${error.message}`);
  return undefined;
}

const repeated = (slugs: readonly string[]) => [
  ...new Set(slugs.filter((slug, index) => slugs.indexOf(slug) !== index)),
];

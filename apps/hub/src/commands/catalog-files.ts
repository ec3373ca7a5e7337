import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { newCategory, newTemplate, slugOf } from '@svc/contract';
import { parse } from 'yaml';
import { z } from 'zod';

/** A folder of YAML files as a catalog: what each file says, with the defaults filled in. */
export interface CatalogFiles {
  readonly categories: readonly (z.output<typeof newCategory> & { readonly slug: string })[];
  readonly templates: readonly (Omit<z.output<typeof newTemplate>, 'category_id' | 'owner_org_id'> & {
    readonly slug: string;
    readonly category: string;
    /** Slug of the organization that owns it; undefined where the file doesn't speak of it. */
    readonly owner: string | null | undefined;
  })[];
}

/** Everything that is wrong with a folder, file by file. */
export class CatalogFilesError extends Error {
  override name = 'CatalogFilesError';
  constructor(complaints: readonly string[]) {
    super(['The catalog can’t be imported; nothing was changed:', ...complaints.map((line) => `  ${line}`)].join('\n'));
  }
}

const UNUSED_ID = '00000000-0000-0000-0000-000000000000';

// A file names its category and its owner by slug; ids are the database's matter.
const templateFile = z.looseObject({
  category: z.string({ error: 'is required: the slug of a category' }),
  owner: z.string().nullable().optional(),
});

/** Reads `categories.yaml` and `templates/*.yaml`. @throws CatalogFilesError with all that is wrong */
export function readCatalogFiles(folder: string): CatalogFiles {
  const complaints: string[] = [];
  const complain = (file: string) => (issue: string) => complaints.push(`${path.join(folder, file)}: ${issue}`);

  const categories = readList(folder, 'categories.yaml', complain('categories.yaml')).flatMap((entry, index) => {
    const category = check(newCategory, entry, (issue) => complain('categories.yaml')(`entry ${index + 1}: ${issue}`));
    return category ? [{ ...category, slug: category.slug ?? slugOf(category.name) }] : [];
  });
  const templates = yamlFiles(folder).flatMap((file) => {
    const content = readYaml(folder, file, complain(file));
    const named = check(templateFile, content, complain(file));
    if (!named) return [];
    const { category, owner, ...rest } = named;
    const template = check(newTemplate, { ...rest, category_id: UNUSED_ID }, complain(file));
    return template
      ? [{ ...template, category, owner, slug: template.slug ?? path.basename(file, path.extname(file)) }]
      : [];
  });
  for (const list of [categories, templates]) {
    for (const slug of repeated(list.map((entry) => entry.slug)))
      complaints.push(`${folder}: the slug ${slug} is given twice`);
  }
  if (complaints.length > 0) throw new CatalogFilesError(complaints);
  return { categories, templates };
}

type Complain = (issue: string) => void;

function yamlFiles(folder: string): string[] {
  const templates = path.join(folder, 'templates');
  if (!existsSync(templates)) return [];
  return readdirSync(templates)
    .filter((file) => /\.ya?ml$/.test(file))
    .sort()
    .map((file) => path.join('templates', file));
}

function readList(folder: string, file: string, complain: Complain): unknown[] {
  if (!existsSync(path.join(folder, file))) {
    complain('there is no such file: a catalog folder has categories.yaml and templates/*.yaml');
    return [];
  }
  const content = readYaml(folder, file, complain) ?? [];
  if (Array.isArray(content)) return content;
  complain('must be a list of categories');
  return [];
}

function readYaml(folder: string, file: string, complain: Complain): unknown {
  try {
    return parse(readFileSync(path.join(folder, file), 'utf8'));
  } catch (error) {
    complain(`can't be read: ${error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : 'unknown reason'}`);
    return undefined;
  }
}

function check<T extends z.ZodType>(schema: T, value: unknown, complain: Complain): z.output<T> | undefined {
  if (value === undefined) return undefined; // the reader has said why
  const result = schema.safeParse(value, { error: (issue) => (issue.input === undefined ? 'is required' : undefined) });
  if (result.success) return result.data;
  for (const issue of result.error.issues) complain(`${issue.path.join('.') || 'the file'}: ${issue.message}`);
  return undefined;
}

const repeated = (slugs: readonly string[]) => [
  ...new Set(slugs.filter((slug, index) => slugs.indexOf(slug) !== index)),
];

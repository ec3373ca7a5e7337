import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { categoryInFile, parseFields, slug, slugOf, storedValueProblems, templateInFile } from '@svc/contract';
import { z } from 'zod';
import { readYamlText } from './yaml-text.ts';

/** Where an object is described. */
interface Origin {
  /** The path of the file, relative to the folder. */
  readonly file: string;
  /** The place of a member as `<file>:<line>`. */
  readonly placeOf: (member: string) => string;
}

interface Slugged {
  readonly slug: string;
  /**
   * Why the API refuses the slug. An earlier version can have stored it, so it is accepted for an
   * object that the hub has.
   */
  readonly slugProblem: string | undefined;
}

/** The catalog that a folder of YAML files describes, with defaults for omitted fields. */
export interface CatalogFiles {
  readonly categories: readonly (z.output<typeof categoryInFile> & Origin & Slugged)[];
  readonly templates: readonly (Omit<z.output<typeof templateInFile>, 'category_id' | 'owner_org_id'> &
    Origin &
    Slugged & {
      readonly category: string;
      /**
       * Slug of the organization that owns the template; undefined if the file does not state an
       * owner.
       */
      readonly owner: string | null | undefined;
    })[];
  /** Values that can no longer be written through the API, each with its line, and ignored files. */
  readonly warnings: readonly string[];
  /** The entries of `templates` that are no template files. A deletion must not overlook them. */
  readonly ignored: readonly string[];
}

/** The errors of all files of a folder. */
export class CatalogFilesError extends Error {
  override name = 'CatalogFilesError';
  constructor(errors: readonly string[]) {
    super(['The catalog files are not valid; nothing was changed:', ...errors.map((line) => `  ${line}`)].join('\n'));
  }
}

const UNUSED_ID = '00000000-0000-0000-0000-000000000000';

// A file refers to its category and its owner by slug, because ids differ between databases.
const references = z.looseObject({
  category: z.string({ error: 'is required: the slug of a category' }),
  owner: z.string().nullable().optional(),
});

/** The file with all categories. */
export const CATEGORIES = 'categories.yaml';

/**
 * Reads `categories.yaml` and `templates/*.yaml`. @throws CatalogFilesError with the errors of all
 * files, each with its line
 */
export function readCatalogFiles(folder: string): CatalogFiles {
  const errors: string[] = [];
  const categories = readCategories(folder, errors);
  const { files, ignored } = templateFiles(folder, errors);
  const templates = files.flatMap((file) => readTemplate(folder, file, errors));
  for (const list of [categories, templates]) errors.push(...repeatedSlugs(list));
  if (errors.length > 0) throw new CatalogFilesError(errors);
  const values = [...categories, ...templates].flatMap((object) => warningsOf(object));
  return { categories, templates, warnings: [...ignored.map(ignoredWarning), ...values], ignored };
}

const ignoredWarning = (name: string) => `${name}: warning: is ignored; ${whyIgnored(name)}`;

/** Why an entry of `templates` is no template file. */
export const whyIgnored = (name: string): string =>
  path.basename(name).startsWith('.')
    ? 'hidden files are no template files'
    : 'template files are templates/<slug>.yaml';

/** Values that are imported, but that the API or fleets refuse. */
const warningsOf = (object: Origin & Slugged & Parameters<typeof storedValueProblems>[0]) =>
  [
    ...(object.slugProblem === undefined ? [] : [{ path: 'slug', message: object.slugProblem }]),
    ...storedValueProblems(object),
  ].map(({ path: member, message }) => `${object.placeOf(member)}: warning: ${member}: ${message}`);

function readCategories(folder: string, errors: string[]): CatalogFiles['categories'] {
  const read = readFile(folder, CATEGORIES, errors);
  if (!read) return [];
  const { file, placeOf } = read;
  const value = read.value ?? [];
  if (!Array.isArray(value)) {
    errors.push(`${placeOf('')}: must be a list of categories`);
    return [];
  }
  return value.flatMap((entry, index) => {
    const within = (member: string) => placeOf(member === '' ? `${index}` : `${index}.${member}`);
    const { rest, ...old } = withoutOldSlug(entry);
    const category = check(categoryInFile, rest, { placeOf: within, noun: `entry ${index + 1}` }, errors);
    if (!category) return [];
    const origin = { file, placeOf: within };
    if (old.slug !== undefined) return [{ ...category, ...origin, ...old }];
    const derived = category.slug ?? slugOf(category.name);
    return isSlug(derived, within('name'), errors)
      ? [{ ...category, ...origin, slug: derived, slugProblem: undefined }]
      : [];
  });
}

function readTemplate(folder: string, file: string, errors: string[]): CatalogFiles['templates'] {
  const read = readFile(folder, file, errors);
  if (!read) return [];
  const { value, placeOf } = read;
  const { rest: valid, ...old } = withoutOldSlug(value);
  const referring = check(references, valid, { placeOf, noun: 'the file' }, errors);
  if (!referring) return [];
  const { category, owner, ...rest } = referring;
  const template = check(templateInFile, { ...rest, category_id: UNUSED_ID }, { placeOf, noun: 'the file' }, errors);
  if (!template) return [];
  const described = { ...template, category, owner, file, placeOf };
  if (old.slug !== undefined) return [{ ...described, ...old }];
  const derived = template.slug ?? path.parse(file).name;
  return isSlug(derived, placeOf(''), errors) ? [{ ...described, slug: derived, slugProblem: undefined }] : [];
}

/** Divides a slug that the API refuses from the rest of what a file states. */
function withoutOldSlug(
  value: unknown,
): { readonly rest: unknown; readonly slug?: undefined } | ({ readonly rest: unknown } & Slugged) {
  const stated = z.looseObject({ slug: z.string() }).safeParse(value);
  if (!stated.success) return { rest: value };
  const { slug: given, ...rest } = stated.data;
  const slugProblem = problemOfSlug(given);
  return slugProblem === undefined ? { rest: value } : { rest, slug: given, slugProblem };
}

function problemOfSlug(given: string): string | undefined {
  const parsed = parseFields(slug, given);
  return parsed.success ? undefined : (parsed.errors[0]?.message ?? 'is not valid');
}

/** Whether a name gives a slug that the API accepts. Otherwise adds an error. */
function isSlug(derived: string, place: string, errors: string[]): boolean {
  const message = problemOfSlug(derived);
  if (message === undefined) return true;
  errors.push(`${place}: slug: "${derived}", which the name gives, ${message}; set slug`);
  return false;
}

function templateFiles(folder: string, errors: string[]): { readonly files: string[]; readonly ignored: string[] } {
  const templates = path.join(folder, 'templates');
  if (!existsSync(templates)) return { files: [], ignored: [] };
  if (!statSync(templates).isDirectory()) {
    errors.push(`${templates}: must be a folder with template files`);
    return { files: [], ignored: [] };
  }
  const names = readdirSync(templates).sort();
  const isTemplate = (name: string) => /^[^.].*\.ya?ml$/.test(name);
  return {
    files: names.filter(isTemplate).map((name) => path.join('templates', name)),
    ignored: names.filter((name) => !isTemplate(name)).map((name) => path.join(folder, 'templates', name)),
  };
}

/** Reads a YAML file; undefined if it has problems, which are added to `errors`. */
function readFile(folder: string, file: string, errors: string[]): (Origin & { readonly value: unknown }) | undefined {
  const name = path.join(folder, file);
  if (!existsSync(name)) {
    errors.push(`${name}: the file does not exist; a catalog folder contains categories.yaml and templates/*.yaml`);
    return undefined;
  }
  if (!statSync(name).isFile()) {
    errors.push(`${name}: is not a file`);
    return undefined;
  }
  const text = utf8Of(readFileSync(name));
  if (text === undefined) {
    errors.push(`${name}: is not UTF-8; save the file with this encoding`);
    return undefined;
  }
  const { value, problems, lineOf } = readYamlText(text);
  errors.push(...problems.map(({ line, message }) => `${name}:${line}: ${message}`));
  return problems.length > 0 ? undefined : { value, file, placeOf: (member) => `${name}:${lineOf(member)}` };
}

function utf8Of(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

interface Checked {
  readonly placeOf: Origin['placeOf'];
  /** The name of the whole value in errors. */
  readonly noun: string;
}

function check<T extends z.ZodType>(
  schema: T,
  value: unknown,
  { placeOf, noun }: Checked,
  errors: string[],
): z.output<T> | undefined {
  const result = parseFields(schema, value);
  if (result.success) return result.data;
  errors.push(...result.errors.map((error) => `${placeOf(error.path)}: ${error.path || noun}: ${error.message}`));
  return undefined;
}

/** An error for each object whose slug an earlier object has. */
function repeatedSlugs(list: readonly (Origin & { readonly slug: string })[]): string[] {
  const first = new Map<string, Origin>();
  return list.flatMap((entry) => {
    const { slug, placeOf } = entry;
    const earlier = first.get(slug);
    if (earlier) return [`${placeOf('slug')}: the slug ${slug} is already used in ${earlier.placeOf('slug')}`];
    first.set(slug, entry);
    return [];
  });
}

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { categoryInFile, slugOf, storedValueProblems } from '@svc/contract';
import type { z } from 'zod';
import {
  check,
  isSlug,
  type PlaceOf,
  readTemplateFile,
  type Slugged,
  type TemplateFile,
  withoutOldSlug,
} from '../catalog/files/template-file.ts';
import { readYamlText } from '../catalog/files/yaml-text.ts';

/** Where an object is described. */
interface Origin {
  /** The path of the file, relative to the folder. */
  readonly file: string;
  /** The place of a member as `<file>:<line>`. */
  readonly placeOf: PlaceOf;
}

/** The catalog that a folder of YAML files describes, with defaults for omitted fields. */
export interface CatalogFiles {
  readonly categories: readonly (z.output<typeof categoryInFile> & Origin & Slugged)[];
  readonly templates: readonly (TemplateFile & Origin)[];
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
  const template = readTemplateFile(value, { placeOf, slug: path.parse(file).name }, errors);
  return template ? [{ ...template, file, placeOf }] : [];
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

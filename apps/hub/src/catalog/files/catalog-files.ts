import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { categoryInFile, slugOf, storedValueProblems } from '@svc/contract';
import { readYamlText } from '@svc/documents';
import type { z } from 'zod';
import { kinds, signatureErrors } from '../trust/signatures.ts';
import { type ObjectNoun, objectNouns } from './objects.ts';
import { SIGNATURES, type SignaturesOfNouns } from './signatures-file.ts';
import {
  type ApplicationFile,
  check,
  isSlug,
  type PlaceOf,
  readApplicationFile,
  readTemplateFile,
  type Slugged,
  type TemplateFile,
  withoutOldSlug,
} from './template-file.ts';

/** Where an object is described. */
interface Origin {
  /** The path of the file, relative to the catalog. */
  readonly file: string;
  /** The place of a member as `<file>:<line>`. */
  readonly placeOf: PlaceOf;
}

interface Signed {
  /** Undefined: no file states them, so that those of the hub do not change. */
  readonly signatures: readonly string[] | undefined;
}

/** The catalog that YAML files describe, with defaults for omitted fields. */
export interface CatalogFiles {
  readonly categories: readonly (z.output<typeof categoryInFile> & Origin & Slugged)[];
  readonly templates: readonly (TemplateFile & Origin & Signed)[];
  readonly applications: readonly (ApplicationFile & Origin & Signed)[];
  /** Values that can no longer be written through the API, each with its line, and ignored files. */
  readonly warnings: readonly string[];
  /** The entries of the folders of objects that are no files of objects. A deletion must not overlook them. */
  readonly ignored: readonly string[];
}

/** The files of a catalog: of a folder, or of a request. */
export interface CatalogSource {
  /** How messages name a file. */
  readonly nameOf: (file: string) => string;
  /** The paths of the files of templates and of applications, relative to the catalog. */
  readonly templates: readonly string[];
  readonly applications: readonly string[];
  /** The names of entries beside them that are no files of objects. */
  readonly ignored: readonly string[];
  readonly signatures: SignaturesOfNouns;
  /** What is wrong with the source as a whole. */
  readonly problems: readonly string[];
  /** The text of a file, or what is wrong with it. */
  readonly read: (file: string) => { readonly text: string } | { readonly problem: string };
}

/** The errors of all files of a catalog, each with its file and line. */
export class CatalogFilesError extends Error {
  override name = 'CatalogFilesError';
  readonly errors: readonly string[];
  constructor(errors: readonly string[]) {
    super(['The catalog files are not valid; nothing was changed:', ...errors.map((line) => `  ${line}`)].join('\n'));
    this.errors = errors;
  }
}

/** The file with all categories. */
export const CATEGORIES = 'categories.yaml';

/** What is wrong with a catalog that lacks a file. */
export const NO_FILE = `the file does not exist; a catalog folder contains ${CATEGORIES}, templates/*.yaml and applications/*.yaml`;

/**
 * Reads `categories.yaml`, `templates/*.yaml` and `applications/*.yaml`. Other work of the process runs between two files.
 * @throws CatalogFilesError with the errors of all files, each with its line
 */
export async function readCatalogFiles(source: CatalogSource): Promise<CatalogFiles> {
  const errors: string[] = [];
  const categories = readCategories(source, errors);
  errors.push(...source.problems);
  const templates: CatalogFiles['templates'][number][] = [];
  for (const file of source.templates) {
    await setImmediate();
    templates.push(...readTemplate(source, file, errors));
  }
  const applications: CatalogFiles['applications'][number][] = [];
  for (const file of source.applications) {
    await setImmediate();
    applications.push(...readApplication(source, file, errors));
  }
  for (const list of [categories, templates, applications]) errors.push(...repeatedSlugs(list));
  const objects = { template: templates, application: applications };
  for (const noun of objectNouns)
    for (const object of objects[noun]) errors.push(...errorsOfSignatures(source, noun, object));
  if (errors.length > 0) throw new CatalogFilesError(errors);
  const { ignored } = source;
  const values = [...categories, ...templates, ...applications].flatMap((object) => warningsOf(object));
  const unused = objectNouns.flatMap((noun) => unusedSignatures(source, noun, objects[noun]));
  return {
    categories,
    templates,
    applications,
    warnings: [...ignored.map(ignoredWarning), ...values, ...unused],
    ignored,
  };
}

/** What is wrong with the signatures of an object. One that was changed must be signed again. */
const errorsOfSignatures = (
  { nameOf }: CatalogSource,
  noun: ObjectNoun,
  object: Signed & { readonly slug: string },
): string[] =>
  signatureErrors({ ...object }, object.signatures ?? [], kinds[noun]).map(
    ({ message }) => `${nameOf(SIGNATURES)}: ${object.slug}: ${message}`,
  );

/** Warnings about signatures of objects without a file. */
function unusedSignatures(
  { nameOf, signatures }: CatalogSource,
  noun: ObjectNoun,
  objects: readonly { readonly slug: string }[],
): string[] {
  const slugs = new Set(objects.map(({ slug }) => slug));
  const unused = Object.keys(signatures[noun]).filter((slug) => !slugs.has(slug));
  return unused.map((slug) => `${nameOf(SIGNATURES)}: warning: ${slug}: no file describes the ${noun}`);
}

/** The signatures that the source states for an object; undefined if it states none. */
const signaturesFor = ({ signatures }: CatalogSource, noun: ObjectNoun, slug: string) =>
  Object.hasOwn(signatures[noun], slug) ? signatures[noun][slug] : undefined;

const ignoredWarning = (name: string) => `${name}: warning: is ignored; ${whyIgnored(name)}`;

/** Why an entry of a folder of objects is no file of an object. */
export function whyIgnored(name: string): string {
  const folder = path.basename(path.dirname(name));
  const noun = folder === 'applications' ? 'application' : 'template';
  return path.basename(name).startsWith('.')
    ? `hidden files are no ${noun} files`
    : `${noun} files are ${noun}s/<slug>.yaml`;
}

/** Values that are imported, but that the API or fleets refuse. */
const warningsOf = (object: Origin & Slugged & Parameters<typeof storedValueProblems>[0]) =>
  [
    ...(object.slugProblem === undefined ? [] : [{ path: 'slug', message: object.slugProblem }]),
    ...storedValueProblems(object),
  ].map(({ path: member, message }) => `${object.placeOf(member)}: warning: ${member}: ${message}`);

function readCategories(source: CatalogSource, errors: string[]): CatalogFiles['categories'] {
  const read = readFile(source, CATEGORIES, errors);
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

function readTemplate(source: CatalogSource, file: string, errors: string[]): CatalogFiles['templates'] {
  const read = readFile(source, file, errors);
  if (!read) return [];
  const { value, placeOf } = read;
  const template = readTemplateFile(value, { placeOf, slug: path.parse(file).name }, errors);
  if (!template) return [];
  return [{ ...template, file, placeOf, signatures: signaturesFor(source, 'template', template.slug) }];
}

function readApplication(source: CatalogSource, file: string, errors: string[]): CatalogFiles['applications'] {
  const read = readFile(source, file, errors);
  if (!read) return [];
  const { value, placeOf } = read;
  const application = readApplicationFile(value, { placeOf, slug: path.parse(file).name }, errors);
  if (!application) return [];
  return [{ ...application, file, placeOf, signatures: signaturesFor(source, 'application', application.slug) }];
}

/** Reads a YAML file; undefined if it has problems, which are added to `errors`. */
function readFile(
  { nameOf, read }: CatalogSource,
  file: string,
  errors: string[],
): (Origin & { readonly value: unknown }) | undefined {
  const name = nameOf(file);
  const content = read(file);
  if ('problem' in content) {
    errors.push(`${name}: ${content.problem}`);
    return undefined;
  }
  const { value, problems, lineOf } = readYamlText(content.text);
  errors.push(...problems.map(({ line, message }) => `${name}:${line}: ${message}`));
  return problems.length > 0 ? undefined : { value, file, placeOf: (member) => `${name}:${lineOf(member)}` };
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

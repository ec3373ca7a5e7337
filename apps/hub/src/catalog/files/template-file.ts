import { applicationInFile, parseFields, slug, templateInFile } from '@svc/contract';
import { z } from 'zod';

/** The place of a member in a file, such as its line, for messages. `''`: the whole value. */
export type PlaceOf = (member: string) => string;

export interface Slugged {
  readonly slug: string;
  /**
   * Why the API refuses the slug. An earlier version can have stored it, so it is accepted for an
   * object that the hub has.
   */
  readonly slugProblem: string | undefined;
}

/** What a file states instead of ids. */
interface Referring extends Slugged {
  /** The slug of its category. */
  readonly category: string;
  /** Slug of the organization that owns the object; undefined if the file does not state an owner. */
  readonly owner: string | null | undefined;
}

type Described<T> = Omit<T, 'category_id' | 'owner_org_id' | 'slug'> & Referring;

/** The template that a catalog file describes, with defaults for omitted fields. */
export type TemplateFile = Described<z.output<typeof templateInFile>>;

/** The application that a catalog file describes, with defaults for omitted fields. */
export type ApplicationFile = Described<z.output<typeof applicationInFile>>;

interface Context {
  readonly placeOf: PlaceOf;
  /** The slug of an object whose file states none. `''`: it derives from the name later. */
  readonly slug: string;
}

const UNUSED_ID = '00000000-0000-0000-0000-000000000000';

// A file refers to its category and its owner by slug, because ids differ between databases.
const references = z.looseObject({
  category: z.string({ error: 'is required: the slug of a category' }),
  owner: z.string().nullable().optional(),
});

/** Reads the value of a template file; undefined if it has errors, which are added to `errors`. */
export const readTemplateFile = (value: unknown, context: Context, errors: string[]): TemplateFile | undefined =>
  readObjectFile(templateInFile, value, context, errors);

/** The same for the file of an application. */
export const readApplicationFile = (value: unknown, context: Context, errors: string[]): ApplicationFile | undefined =>
  readObjectFile(applicationInFile, value, context, errors);

function readObjectFile<T extends { readonly slug?: string | undefined }>(
  schema: z.ZodType<T>,
  value: unknown,
  context: Context,
  errors: string[],
): Described<T> | undefined {
  const { placeOf } = context;
  const { rest: valid, ...old } = withoutOldSlug(value);
  const referring = check(references, valid, { placeOf, noun: 'the file' }, errors);
  if (!referring) return undefined;
  const { category, owner, ...rest } = referring;
  const object = check(schema, { ...rest, category_id: UNUSED_ID }, { placeOf, noun: 'the file' }, errors);
  if (!object) return undefined;
  const described = { ...object, category, owner };
  // The spread of a type parameter loses which members it leaves out.
  if (old.slug !== undefined) return { ...described, ...old } as Described<T>;
  const derived = object.slug ?? context.slug;
  const isValid = derived === '' || isSlug(derived, placeOf(''), errors);
  // The same.
  return isValid ? ({ ...described, slug: derived, slugProblem: undefined } as Described<T>) : undefined;
}

/** Divides a slug that the API refuses from the rest of what a file states. */
export function withoutOldSlug(
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
export function isSlug(derived: string, place: string, errors: string[]): boolean {
  const message = problemOfSlug(derived);
  if (message === undefined) return true;
  errors.push(`${place}: slug: "${derived}", which the name gives, ${message}; set slug`);
  return false;
}

interface Checked {
  readonly placeOf: PlaceOf;
  /** The name of the whole value in errors. */
  readonly noun: string;
}

/** Checks a value with a schema; undefined if it has errors, which are added to `errors`. */
export function check<T extends z.ZodType>(
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

import type { z } from 'zod';
import { memberNamesAt, nearestName } from './nearest-name.ts';

/** What is wrong with one member or parameter of a request. `path` is '' for the whole body. */
export interface FieldError {
  readonly path: string;
  readonly message: string;
}

type Parsed<T> =
  | { readonly success: true; readonly data: T }
  | { readonly success: false; readonly errors: readonly FieldError[] };

/**
 * Parses a value that comes from outside. This is the only function that turns issues of zod into
 * field errors: the messages are those of the schema or of `defaultMessage`, never those of zod. A
 * message completes a sentence that begins with the name of the member: "must be a string". `noun`
 * is the name for the members of the value.
 */
export function parseFields<T extends z.ZodType>(
  schema: T,
  value: unknown,
  noun: 'member' | 'parameter' | 'option' | 'argument' = 'member',
): Parsed<z.output<T>> {
  const result = schema.safeParse(value, { error: defaultMessage });
  if (result.success) return { success: true, data: result.data };
  return { success: false, errors: limitFieldErrors(fieldErrors(result.error.issues, schema, noun)) };
}

export const MAX_FIELD_ERRORS = 100;

/** At most `MAX_FIELD_ERRORS` errors. If there are more, the last one says so. */
export function limitFieldErrors(errors: Iterable<FieldError>): readonly FieldError[] {
  const listed: FieldError[] = [];
  for (const error of errors) {
    if (listed.length === MAX_FIELD_ERRORS) {
      const message = `has more errors; only the first ${MAX_FIELD_ERRORS - 1} are listed`;
      return [...listed.slice(0, -1), { path: '', message }];
    }
    listed.push(error);
  }
  return listed;
}

function* fieldErrors(issues: readonly z.core.$ZodIssue[], schema: z.ZodType, noun: string): Generator<FieldError> {
  for (const issue of issues) {
    const path = issue.path.map(String).join('.');
    if (issue.code === 'invalid_key') {
      for (const { message } of issue.issues) yield { path, message: `its name ${message}` };
    } else if (issue.code === 'unrecognized_keys') {
      const known = memberNamesAt(schema, issue.path);
      for (const key of issue.keys) {
        yield { path: path === '' ? key : `${path}.${key}`, message: unknownName(key, noun, known) };
      }
    } else {
      yield { path, message: issue.message };
    }
  }
}

function unknownName(name: string, noun: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  const suggestion = nearest === undefined ? '' : `; did you mean ${nearest}?`;
  return `unknown ${noun}${suggestion}${known.length > 0 ? `; allowed: ${known.join(', ')}` : ''}`;
}

/** The message of an issue for which the schema states none. */
function defaultMessage(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${typeName(issue.expected, issue.input)}`;
    case 'invalid_value':
      return issue.input === undefined ? 'is required' : oneOf(issue.values);
    case 'invalid_union': // of a discriminated union: no variant has the value of the discriminator
      return Array.isArray(issue.options) ? oneOf(issue.options) : 'is not valid';
    case 'too_small':
      return `must ${bound(issue.origin, 'at least', issue.minimum)}`;
    case 'too_big':
      return `must ${bound(issue.origin, 'at most', issue.maximum)}`;
    default:
      return 'is not valid';
  }
}

const oneOf = (values: readonly unknown[]) =>
  values.length === 1 ? `must be ${values[0]}` : `must be one of: ${values.join(', ')}`;

const TYPE_NAMES: Readonly<Record<string, string>> = {
  array: 'an array',
  int: 'an integer',
  object: 'an object',
  record: 'an object',
};

function typeName(expected: string, input: unknown): string {
  // JSON such as 1e400.
  if (typeof input === 'number' && !Number.isFinite(input)) return 'a finite number';
  return TYPE_NAMES[expected] ?? `a ${expected}`;
}

const UNITS: Readonly<Record<string, readonly [singular: string, plural: string]>> = {
  string: ['character', 'characters'],
  array: ['entry', 'entries'],
};

/** "be at least 1" for a number, "have at least 1 character" for a string. */
function bound(origin: string, limit: 'at least' | 'at most', count: number | bigint): string {
  const unit = UNITS[origin];
  if (!unit) return `be ${limit} ${count}`;
  const [singular, plural] = unit;
  return `have ${limit} ${count} ${count === 1 ? singular : plural}`;
}

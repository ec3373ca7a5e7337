import { z } from 'zod';
import { flag, line } from './wire.ts';

/** The maximum number of values of a filter. */
const MAX_VALUES = 20;

/**
 * A filter with one or more values that match the pattern of one value, separated by commas. Its
 * output are the values. `must` completes the message "must be …".
 */
const anyOf = (one: string, must: string) =>
  z
    .string()
    .regex(
      new RegExp(`^(?:${one})(?:,(?:${one})){0,${MAX_VALUES - 1}}$`),
      `must be ${must}, or at most ${MAX_VALUES} of them, separated by commas`,
    )
    .transform((given) => given.split(','));

const described = (what: string) => ({ description: `${what}; several are separated by commas` });

/** A filter by some of the values of a member. */
export const anyValue = <T extends string>(member: string, { options }: { readonly options: readonly T[] }) =>
  anyOf(options.join('|'), `one of: ${options.join(', ')}`)
    // The pattern admits only the options.
    .transform((values) => values as T[])
    .optional()
    .meta(described(`\`${member}\`: ${options.join(', ')}`));

/** A filter by ids, converted to lower case. */
export const anyId = (what: string) =>
  anyOf('[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}', 'a UUID')
    .transform((ids) => ids.map((id) => id.toLowerCase()))
    .optional()
    .meta(described(what));

/**
 * A filter by names of resources or nodes, slugs of templates, types of networks or architectures.
 */
export const anyName = (what: string) =>
  anyOf('[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,251}[A-Za-z0-9])?', 'a name of letters, digits and inner ._-')
    .optional()
    .meta(described(what));

/** A filter by one text, which can contain commas. */
export const exactText = (what: string) => line(400).optional().meta({ description: what });

/** A filter by a condition. */
export const whether = (what: string) => flag.optional().meta({ description: what });

/**
 * The sort order of a list: one of the fields, ascending, or with `-`, descending. Without it, the
 * newest rows are first.
 */
export const sortBy = <F extends string>(...fields: readonly F[]) =>
  z
    // flatMap loses the literals.
    .enum(['created_at', ...fields].flatMap((field) => [field, `-${field}`]) as SortOrder<F>[])
    .default('-created_at' as never) // an order for every F, which TypeScript cannot infer
    .meta({
      description:
        'Ascending, or with `-` descending. Equal rows are sorted by `id`, ascending; rows without a value are last',
    });

type SortOrder<F extends string> = 'created_at' | '-created_at' | F | `-${F}`;

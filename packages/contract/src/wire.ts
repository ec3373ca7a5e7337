import { z } from 'zod';
import { fold } from './fold.ts';
import { shownAs } from './shown.ts';

/** Any UUID; new rows get version 7 (RFC 9562). Lower case inside. */
export const uuid = z
  .string()
  .regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, 'must be a UUID')
  .transform((id) => id.toLowerCase())
  .meta({ ...shownAs({ type: 'string', format: 'uuid' }) });

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it refuses
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

/** Text of at most `max` characters, line breaks and tabs included, other control characters refused. */
export const text = (max: number) =>
  z
    .string()
    .max(max, `must have at most ${max} characters`)
    .refine((value) => !CONTROL.test(value), 'must not hold control characters');

/** Text of one line. */
export const line = (max: number) => text(max).refine((value) => !/[\r\n\t]/.test(value), 'must be one line');

/** What an index entry has room for, three bytes a character, come what may. */
const MAX_FOLDED = 600;

/** A name: one line, not blank, surrounding white space dropped. */
export const name = line(200)
  .transform((value) => value.trim())
  .refine((value) => value !== '', 'must not be blank')
  .refine((value) => fold(value).length <= MAX_FOLDED, 'has characters that grow too long when they are compared')
  .meta({ ...shownAs({ type: 'string', minLength: 1, maxLength: 200 }) });

/** An address to be called as it is written: a host at least, and no user, query or fragment, in whatever spelling. */
export const serviceUrl = (schemes: readonly ('http' | 'https')[]) => {
  const beginning = new RegExp(`^(?:${schemes.join('|')})://[^/\\\\\\s]`);
  return line(2000)
    .refine(
      (value) => beginning.test(value) && URL.canParse(value),
      `must be an ${schemes.join(' or ')} URL, such as https://example.com`,
    )
    .refine((value) => {
      const { username, password } = URL.canParse(value) ? new URL(value) : { username: '', password: '' };
      return username === '' && password === '' && !/[?#@]/.test(value);
    }, 'must have no user, query or fragment');
};

const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;
const RESERVED_SLUGS: readonly string[] = ['updates'];

/** The last segment of an address: lower-case letters, digits and inner hyphens, 1 to 64, never a word that is a route. */
export const slug = z
  .string()
  .regex(SLUG, 'must have 1 to 64 lower-case letters, digits and inner hyphens')
  .refine(
    (value) => !RESERVED_SLUGS.includes(value),
    `must not be ${RESERVED_SLUGS.join(', ')}: a route has that name`,
  );

/** A whole number in a query, digits only: `0x10`, `1e2` and ` 5` are not numbers here. */
export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be a whole number from ${min} to ${max}`)
    .meta({ ...shownAs({ type: 'integer', minimum: min, maximum: max }) });

/** `true` or `false` in a query. */
export const flag = z
  .enum(['true', 'false'], 'must be true or false')
  .transform((value) => value === 'true')
  .meta({ ...shownAs({ type: 'boolean' }) });

/** A comma-separated list in a query; blanks around the members and empty members are dropped. */
export const commaSeparated = z
  .string()
  .max(2000, 'must have at most 2000 characters')
  .transform((value) =>
    value
      .split(',')
      .map((member) => member.trim())
      .filter((member) => member !== ''),
  )
  .meta({ ...shownAs({ type: 'string' }) });

const MAX_PAGE = 999_999;
export const MAX_PAGE_SIZE = 100;
export const DEFAULT_PAGE_SIZE = 50;

/** Paging as every list has it. */
export const paging = {
  page: wholeNumber(1, MAX_PAGE)
    .default(1)
    .meta(shownAs({ type: 'integer', minimum: 1, default: 1 })),
  limit: wholeNumber(1, MAX_PAGE_SIZE)
    .default(DEFAULT_PAGE_SIZE)
    .meta(shownAs({ type: 'integer', minimum: 1, maximum: MAX_PAGE_SIZE, default: DEFAULT_PAGE_SIZE })),
};

/** Paging of a list that answers everything unless `page` or `limit` is given. */
export const optionalPaging = {
  page: wholeNumber(1, MAX_PAGE).optional(),
  limit: wholeNumber(1, MAX_PAGE_SIZE).optional(),
};

export const pagination = z
  .object({ page: z.int(), limit: z.int(), total: z.int(), totalPages: z.int() })
  .meta({ id: 'Pagination', description: '`totalPages` is 0 when there is nothing' });

/** The `pagination` member of a page of a list. */
export const paginationOf = (page: { page: number; limit: number }, total: number) => ({
  page: page.page,
  limit: page.limit,
  total,
  totalPages: Math.ceil(total / page.limit),
});

/** The `pagination` member of a list that was answered whole. */
export const wholePagination = (total: number) => ({ page: 1, limit: total, total, totalPages: total === 0 ? 0 : 1 });

/** Members that a caller may send back as read and that change nothing. */
export const ignored = <K extends string>(...members: readonly K[]): Record<K, z.ZodOptional<z.ZodUnknown>> =>
  Object.fromEntries(
    members.map((member) => [member, z.unknown().optional().meta({ description: 'Read-only: ignored' })]),
  ) as Record<K, z.ZodOptional<z.ZodUnknown>>;

/** `id`, for those whose body gets lost on the way: some proxies drop the body of a DELETE. */
export const idInQuery = z.strictObject({ id: uuid.optional().meta({ description: 'Instead of `id` in the body' }) });

/** A body that names one thing. */
export const identified = z.strictObject({ id: uuid.optional() });

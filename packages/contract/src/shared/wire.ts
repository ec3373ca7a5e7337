import { z } from 'zod';
import { codedMessages } from './field-codes.ts';
import { documentedAs, ignoredMember } from './openapi-schema.ts';

/** A UUID of any version (RFC 9562), converted to lower case. New rows have version 7. */
export const uuid = z
  .string()
  .regex(/^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$/, codedMessages.uuid)
  .meta({ format: 'uuid' })
  .transform((id) => id.toLowerCase());

/**
 * The id of an object in a response, and in a path. In a path, other text is the id of no object.
 */
export const id = z.string().meta({ format: 'uuid' });

// Rules for text are regular expressions without flags, because OpenAPI then publishes them as
// patterns.

// biome-ignore lint/suspicious/noControlCharactersInRegex: this pattern excludes control characters
const TEXT = /^[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]*$/;

// biome-ignore lint/suspicious/noControlCharactersInRegex: this pattern excludes control characters
const LINE = /^[^\u0000-\u001f\u007f]*$/;

const atMost = (max: number) => z.string().max(max, `must have at most ${max} characters`);

/**
 * Text of at most `max` characters. Line breaks and tabs are the only allowed control characters.
 */
export const text = (max: number) => atMost(max).regex(TEXT, 'must not contain control characters');

/** Text of one line, without tabs. */
export const line = (max: number) =>
  atMost(max).regex(LINE, 'must not contain line breaks, tabs or other control characters');

/** The rule that text is not blank. */
export const NOT_BLANK = /\S/;

/**
 * A folded name of this length fits in an index entry of PostgreSQL, with 3 bytes per character.
 */
export const MAX_FOLDED = 600;

/** A name that can be stored: one line, not blank, without surrounding white space. */
export const storedName = line(200)
  .regex(NOT_BLANK, 'must not be blank')
  .transform((value) => value.trim())
  .refine(
    (value) => fold(value).length <= MAX_FOLDED,
    `must have at most ${MAX_FOLDED} characters in Unicode normalization form NFKC`,
  );

/**
 * Characters that change the direction of a text, or have no glyph: a name with one looks like
 * another name. Joiners (U+200C, U+200D) and variation selectors are part of words and emoji.
 */
const INVISIBLE = /(?![\u200c\u200d]|\p{Variation_Selector})\p{Default_Ignorable_Code_Point}|\p{Bidi_Control}/u;

const ALL_INVISIBLE = new RegExp(INVISIBLE, 'gu');

/** A name that somebody else wrote, such as an identity provider, without these characters. */
export const withoutInvisible = (name: string): string => name.replace(ALL_INVISIBLE, '');

/** Why a name, or other text by which people recognize an object, cannot be written. */
export function invisibleProblem(name: string): string | undefined {
  const [found] = INVISIBLE.exec(name) ?? [];
  if (found === undefined) return undefined;
  const code = (found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return `must not contain invisible characters, or those that change the direction of text, such as U+${code}`;
}

/** Text by which people recognize an object, written now: without invisible characters. */
export const visible = <T extends z.ZodType<string>>(schema: T): T =>
  schema.check(({ value, issues }) => {
    const message = invisibleProblem(value);
    if (message !== undefined) issues.push({ code: 'custom', message, input: value });
  });

/** A name that is written now. */
export const name = visible(storedName);

/** An e-mail address that is written now, normalized for comparison: trimmed, in lower case. */
export const email = visible(
  line(320)
    .regex(/^\s*[^\s@]+@[^\s@]+\s*$/, 'must be an e-mail address')
    .transform((value) => value.trim().toLowerCase()),
);

/**
 * The base URL of a service. It must have a host, and no user, query or fragment. Also rejects
 * unusual spellings, in which a URL parser would find these parts.
 */
export const serviceUrl = (schemes: readonly ('http' | 'https')[]) => {
  const start = new RegExp(`^(?:${schemes.join('|')})://[^/\\\\\\s]`);
  const message = `must be an ${schemes.join(' or ')} URL, such as https://example.com`;
  return line(2000)
    .regex(start, { message, abort: true })
    .refine((value) => URL.canParse(value), message)
    .regex(/^[^?#@\s]*$/, 'must not have a user, a query, a fragment or white space');
};

/**
 * An object with any names of members that match `key`, at most `max` of them. Unlike the entries
 * of an array, zod validates the members before it counts them, and each invalid member causes an
 * error. So they are counted first.
 */
export function record<K extends z.core.$ZodRecordKey, V extends z.ZodType>(key: K, value: V, max = 256) {
  const schema = z.record(key, value).meta({ maxProperties: max });
  return z.preprocess((given: z.input<typeof schema>, context) => {
    const isTooLarge = typeof given === 'object' && given !== null && Object.keys(given).length > max;
    if (isTooLarge) context.addIssue({ code: 'custom', message: `must have at most ${max} members` });
    return given;
  }, schema);
}

const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;
const RESERVED_SLUGS: readonly string[] = ['updates'];

/** The last segment of a URL path. Names of routes are reserved. */
export const slug = z
  .string()
  .regex(SLUG, 'must have 1 to 64 lower-case letters, digits and inner hyphens')
  .refine((value) => !RESERVED_SLUGS.includes(value), `must not be a reserved word: ${RESERVED_SLUGS.join(', ')}`)
  .meta({ not: { enum: RESERVED_SLUGS } });

/** An integer in a query. Only digits are allowed, unlike `0x10`, `1e2` or ` 5`. */
export const queryInteger = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,16}$/, `must be an integer from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be an integer from ${min} to ${max}`)
    .meta({ ...documentedAs({ type: 'integer', minimum: min, maximum: max }) });

/** `true` or `false` in a query. */
export const flag = z
  .enum(['true', 'false'], 'must be true or false')
  .transform((value) => value === 'true')
  .meta({ ...documentedAs({ type: 'boolean' }) });

/** A comma-separated list in a query. White space around entries and empty entries are removed. */
export const commaSeparated = z
  .string()
  .max(2000, 'must have at most 2000 characters')
  .transform((value) =>
    value
      .split(',')
      .map((member) => member.trim())
      .filter((member) => member !== ''),
  );

/**
 * A page beyond the end of a list is empty. The largest one is the largest integer that all JSON
 * parsers read exactly.
 */
const MAX_PAGE = Number.MAX_SAFE_INTEGER;
export const MAX_PAGE_SIZE = 100;
export const DEFAULT_PAGE_SIZE = 50;

/** The paging parameters of a list. */
export const paging = {
  page: queryInteger(1, MAX_PAGE).default(1),
  limit: queryInteger(1, MAX_PAGE_SIZE).default(DEFAULT_PAGE_SIZE),
};

/** The paging parameters of a list that is complete unless `page` or `limit` is set. */
export const optionalPaging = {
  page: queryInteger(1, MAX_PAGE).optional(),
  limit: queryInteger(1, MAX_PAGE_SIZE).optional(),
};

/** A search term in a query, without surrounding blanks. */
export const searchTerm = line(200).transform((value) => value.trim());

/** A search term that is a substring of members. */
export const searchIn = (members: string) =>
  searchTerm.optional().meta({ description: `Substring of the ${members}, case-insensitive` });

export const pagination = z
  .object({ page: z.int(), limit: z.int(), total: z.int(), totalPages: z.int() })
  .meta({ id: 'Pagination', description: '`totalPages` is 0 if `total` is 0' });

/** More rows than a list has. PostgreSQL accepts it as an offset. */
const MAX_OFFSET = 2 ** 31 - 1;

/**
 * The number of rows before a page. It is limited, so that the offset of a page beyond the end does
 * not overflow.
 */
export const offsetOf = ({ page, limit }: { page: number; limit: number }): number =>
  Math.min((page - 1) * limit, MAX_OFFSET);

/** The `pagination` member of one page of a list. */
export const paginationOf = (page: { page: number; limit: number }, total: number) => ({
  page: page.page,
  limit: page.limit,
  total,
  totalPages: Math.ceil(total / page.limit),
});

/** The `pagination` member of a complete list. */
export const completePagination = (total: number) => ({
  page: 1,
  limit: total,
  total,
  totalPages: total === 0 ? 0 : 1,
});

/**
 * Read-only members, which a caller can send back unchanged. The OpenAPI document describes them
 * once, for all bodies.
 */
export const ignored = <K extends string>(...members: readonly K[]): Record<K, typeof ignoredMember> =>
  // Object.fromEntries loses the names of the members.
  Object.fromEntries(members.map((member) => [member, ignoredMember])) as Record<K, typeof ignoredMember>;

/** `id` in the query instead of the body, because some proxies remove the body of a DELETE. */
export const idInQuery = z.strictObject({ id: uuid.optional().meta({ description: 'Instead of `id` in the body' }) });

/** A body that identifies one object. */
export const identified = z.strictObject({ id: uuid.optional() });

/** The path parameter of an endpoint for one object. */
export const byUuid = z.strictObject({ id: uuid });

/** The version of an object in the hub. */
export const objectVersion = z
  .int()
  .meta({ description: 'Increases with each change by administrators, for If-Match' });

/**
 * Normalizes text for comparison and search: NFKC and lower case. The result does not depend on the
 * locale of the database.
 */
export const fold = (text: string): string => text.normalize('NFKC').toLowerCase();

/**
 * Separates the folded texts of one row. Input cannot contain it, so a search term never matches
 * across two texts.
 */
const SEPARATOR = '\u001f';

/**
 * Folds text for `search`: also letters whose lower case depends on their position or on the language. The function
 * `search_folded` of the databases makes the same replacements in the text of earlier versions.
 */
export const foldSearch = (text: string): string =>
  fold(text).replaceAll('ς', 'σ').replaceAll('i\u0307', 'i').replaceAll('ı', 'i').replaceAll('ß', 'ss');

/** The text in which a folded search term is looked up. */
export const searchText = (...texts: readonly string[]): string => texts.map(foldSearch).join(SEPARATOR);

/** Letters with a stroke, and ligatures, which Unicode does not decompose. */
const UNDECOMPOSED: Readonly<Record<string, string>> = { ø: 'o', ł: 'l', đ: 'd', æ: 'ae', œ: 'oe' };

/** Folds text for the search by words: also without accents. */
const unaccented = (text: string): string =>
  foldSearch(text)
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[øłđæœ]/g, (letter) => UNDECOMPOSED[letter] ?? letter)
    .normalize('NFC');

/** Characters of scripts that put no blanks between words. Each counts as a word. */
const WITHOUT_BLANKS = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/gu;

/** The words of a text, folded for the search by words. Punctuation divides words. */
export const wordsOf = (text: string): string[] =>
  unaccented(text)
    .replace(WITHOUT_BLANKS, ' $& ')
    .split(/[^\p{L}\p{N}\p{M}]+/u)
    .filter((word) => word !== '');

/** The maximum number of different words of a query, which bounds the cost of a search. */
const MAX_WORDS = 16;

const FOUND_WORDS =
  'Words of the name, the description, the slug, the image or the tags, or parts of them, in any order, without case and accents. The best match is first';

/** A search by words in a query. `more` continues its description. */
export const wordQuery = (more = '') =>
  searchTerm
    .refine((value) => new Set(wordsOf(value)).size <= MAX_WORDS, `must have at most ${MAX_WORDS} different words`)
    .optional()
    .meta({ description: `${FOUND_WORDS}${more}` });

const SLUG_LENGTH = 64;

/**
 * Derives a slug from a name. Returns '' if the name has no letter or digit that a slug can
 * contain.
 */
export const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{Mark}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG_LENGTH)
    .replace(/^-+|(?<!-)-+$/g, '');

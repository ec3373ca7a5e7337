import fc from 'fast-check';

/** Texts that often cause failures. */
const TEXTS: readonly string[] = [
  '',
  ' ',
  '\t',
  'a\r\nX-Injected: 1',
  '\u0000',
  'a\u0000b',
  '\u001f',
  '\u007f',
  '\u0085',
  '\u2028',
  '\ufeff',
  '\uffff',
  '\ud800',
  'a\udfffb',
  '\u202eesrever',
  'שלום עולם',
  '👩‍👩‍👧‍👦',
  `e${'\u0301'.repeat(50)}`,
  'İıßﬁ',
  '\ufdfa', // folds to 18 characters
  '\ufdfa'.repeat(200),
  '😀'.repeat(100),
  '١٢',
  '１',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '%',
  '_',
  '\\',
  '%_\\',
  '\\%',
  "'",
  '"',
  "' OR 1=1 --",
  "'; DROP TABLE templates; --",
  '$1',
  '?',
  '{}',
  '{"a"',
  '(((((',
  '[a-',
  ',',
  ',,,',
  'a,b,,c',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: an example of an expression injection
  '${7*7}{{7*7}}',
  '<script>alert(1)</script>',
  '../../etc/passwd',
  '%00',
  '%2e%2e%2f',
  'updates',
  'true',
  'null',
  'undefined',
  'NaN',
  'Infinity',
  '-0',
  '-1',
  '0',
  '1e2',
  '1e400',
  '0x10',
  ' 5',
  '007',
  '2147483648',
  '999999999',
  '9007199254740993',
  '9'.repeat(400),
];

const DATES: readonly string[] = [
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00+14:00',
  '0001-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999Z',
  '9999-12-31T23:59:59-23:59',
  '+010000-01-01T00:00:00Z',
  '2026-02-30T00:00:00Z',
  '2026-01-01T24:00:00Z',
  '2026-06-30T23:59:60Z',
  '2026-01-01T00:00:00.9999999999999999999Z',
  '2026-01-01T00:00Z',
  '2026-01-01',
  '1767225600000',
  'now',
  'infinity',
  '-infinity',
  'epoch',
];

const IDS: readonly string[] = [
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF',
  '{00000000-0000-0000-0000-000000000000}',
  '00000000000000000000000000000000',
  '00000000-0000-0000-0000-00000000000g',
];

/** Texts that are valid for some members, so that requests also pass validation. */
export const plainTexts: readonly string[] = [
  'A name',
  'a-slug',
  '/data',
  'https://example.test/icon.png',
  'somebody@example.test',
  '2026-01-02T03:04:05.678Z',
  'true',
  '7',
];

const longText = fc
  .tuple(fc.constantFrom('a', '\u0301', '😀', '\\', '%'), fc.constantFrom(64, 65, 200, 201, 255, 257, 4001))
  .map(([unit, count]) => unit.repeat(count));

/**
 * Any code points. `fc.string({ unit: 'binary' })` creates a table of all code points, which takes
 * a second.
 */
const anyText = fc
  .array(fc.nat({ max: 0x10_ffff }), { maxLength: 20 })
  .map((codePoints) => String.fromCodePoint(...codePoints));

export const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...TEXTS, ...DATES, ...IDS) },
  { weight: 2, arbitrary: anyText },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 20 }) },
  { weight: 2, arbitrary: longText },
);

const NUMBERS: readonly number[] = [
  0,
  -1,
  1.5,
  0.1,
  65_536,
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 53,
  2 ** 53 + 2,
  -(2 ** 63),
  1e21,
  Number.MAX_VALUE,
  Number.MIN_VALUE,
];

/** JSON texts that JSON.stringify never produces, by their placeholders. */
const LITERALS: Readonly<Record<string, string>> = {
  '@1e400': '1e400',
  '@-0': '-0',
  '@40 digits': '1'.repeat(40),
  '@33 deep': `${'['.repeat(33)}${']'.repeat(33)}`,
  '@arrays 5000 deep': `${'['.repeat(5000)}${']'.repeat(5000)}`,
  '@objects 3000 deep': `${'{"a":'.repeat(3000)}1${'}'.repeat(3000)}`,
  '@twice': '{"name":1,"name":2}',
  '@prototype': '{"__proto__":{"isAdmin":true}}',
};

/** The JSON text of a value. */
export const jsonOf = (value: unknown): string =>
  Object.entries(LITERALS).reduce(
    (text, [placeholder, literal]) => text.replaceAll(`"${placeholder}"`, literal),
    JSON.stringify(value),
  );

/** A JSON value of any type, which is valid for a member only by chance. */
export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 5, arbitrary: hostileText },
  { weight: 3, arbitrary: fc.constantFrom<unknown>(...NUMBERS, null, true, false, [], {}, [null], [[]], [{}]) },
  { weight: 2, arbitrary: fc.constantFrom(...Object.keys(LITERALS)) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 1, arbitrary: hostileText.map((text) => ({ [text]: text })) },
  { weight: 1, arbitrary: fc.tuple(hostileText, fc.constantFrom(2, 257)).map(([text, n]) => Array(n).fill(text)) },
);

/** Names of members and parameters that are mostly unknown. */
export const unknownName: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'toString', 'id', 'created_at', 'role', 'org_id', 'access_token', ''),
  hostileText,
);

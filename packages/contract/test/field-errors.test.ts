import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { list, parseFields, record } from '../src/index.ts';
import { fleetService, hubService } from '../src/openapi/services.ts';

const errorsOf = (schema: z.ZodType, value: unknown, noun?: 'member' | 'parameter') => {
  const result = parseFields(schema, value, noun);
  return result.success ? [] : result.errors;
};

test('returns the parsed value of valid input', () => {
  expect(parseFields(z.strictObject({ count: z.int().default(1) }), {})).toEqual({ success: true, data: { count: 1 } });
});

describe('field errors of an issue', () => {
  const pair = z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('one') }),
    z.strictObject({ kind: z.literal('two') }),
  ]);

  test.each<[title: string, schema: z.ZodType, value: unknown, message: string]>([
    ['invalid_type, for a missing member', z.string(), undefined, 'is required'],
    ['invalid_type, for a string', z.string(), 1, 'must be a string'],
    ['invalid_type, for null', z.string(), null, 'must be a string'],
    ['invalid_type, for a boolean', z.boolean(), 'true', 'must be a boolean'],
    ['invalid_type, for a number', z.number(), '1', 'must be a number'],
    ['invalid_type, for an integer', z.int(), 1.5, 'must be an integer'],
    ['invalid_type, for an integer that is text', z.int(), '1', 'must be a number'],
    ['invalid_type, for an infinite number', z.int(), Number.POSITIVE_INFINITY, 'must be a finite number'],
    ['invalid_type, for an array', z.array(z.string()), {}, 'must be an array'],
    ['invalid_type, for an object', z.strictObject({}), [], 'must be an object'],
    ['invalid_type, for a map', z.record(z.string(), z.string()), 'a', 'must be an object'],
    ['invalid_value, for a missing member', z.enum(['a', 'b']), undefined, 'is required'],
    ['invalid_value, for a literal', z.literal('a'), 'b', 'must be a'],
    ['invalid_value, for an enumeration', z.enum(['a', 'b']), 'c', 'must be one of: a, b'],
    ['too_small, for a number', z.int().min(1), 0, 'must be at least 1'],
    ['too_small, for a string', z.string().min(1), '', 'must have at least 1 character'],
    ['too_small, for an array', z.array(z.string()).min(2), [], 'must have at least 2 entries'],
    ['too_big, for a number', z.int().max(3), 4, 'must be at most 3'],
    ['too_big, for an unsafe integer', z.int(), 1e20, 'must be at most 9007199254740991'],
    ['too_big, for a string', z.string().max(3), 'abcd', 'must have at most 3 characters'],
    ['too_big, for an array', z.array(z.string()).max(1), ['a', 'b'], 'must have at most 1 entry'],
    ['invalid_format', z.string().regex(/^a$/), 'b', 'is not valid'],
    ['custom', z.string().refine(() => false), 'a', 'is not valid'],
    [
      'invalid_format with a message of the schema',
      z.string().regex(/^a$/, 'must be the letter a'),
      'b',
      'must be the letter a',
    ],
    ['custom with a message of the schema', z.string().refine(() => false, 'must be more'), 'a', 'must be more'],
  ])('describe the issue %s', (_, schema, value, message) => {
    expect(
      errorsOf(z.strictObject({ nested: z.array(z.strictObject({ it: schema })) }), { nested: [{ it: value }] }),
    ).toEqual([{ path: 'nested.0.it', message }]);
  });

  test('describe the issue invalid_union, for an unknown and for a missing discriminator', () => {
    const expected = [{ path: 'auth.kind', message: 'must be one of: one, two' }];
    expect(errorsOf(z.strictObject({ auth: pair }), { auth: { kind: 'three' } })).toEqual(expected);
    expect(errorsOf(z.strictObject({ auth: pair }), { auth: {} })).toEqual(expected);
  });

  test('describe the issue invalid_key', () => {
    const labels = z.record(z.string().max(1), z.string());
    expect(errorsOf(z.strictObject({ labels }), { labels: { ab: '' } })).toEqual([
      { path: 'labels.ab', message: 'its name must have at most 1 character' },
    ]);
  });

  test.each([
    ['imge_name', 'image_name'],
    ['imageName', 'image_name'],
    ['Image-Name', 'image_name'],
    ['image', undefined],
    ['prots', 'ports'],
    ['port', 'ports'],
    ['x', undefined],
    [`image_name${' '.repeat(100)}`, undefined],
  ])('suggest for the unknown member %j the nearest allowed name %j', (given, nearest) => {
    const schema = z.strictObject({ image_name: z.string().optional(), ports: z.string().optional() });
    const allowed = 'allowed: image_name, ports';
    const message = `unknown member; ${nearest === undefined ? '' : `did you mean ${nearest}?; `}${allowed}`;
    expect(errorsOf(schema, { [given]: 1 })).toEqual([{ path: given, message }]);
    const nested = z.strictObject({ all: record(z.string(), list(schema.nullable()).default([])).optional() });
    expect(errorsOf(nested, { all: { one: [null, { [given]: 1 }] } })).toEqual([
      { path: `all.one.1.${given}`, message },
    ]);
  });

  test('suggest names at a bounded cost', () => {
    const schema = z.strictObject(
      Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`${'a'.repeat(60)}${n}`, z.any()])),
    );
    const value = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`${'a'.repeat(58)}${n}`, 1]));
    expect(errorsOf(schema, value)).toHaveLength(100);
  });

  test('describe the issue unrecognized_keys, with the allowed members of the body or query', () => {
    const schema = z.strictObject({ a: z.string().optional(), nested: z.strictObject({}).optional() });
    expect(errorsOf(schema, { b: 1, c: 2 })).toEqual([
      { path: 'b', message: 'unknown member; allowed: a, nested' },
      { path: 'c', message: 'unknown member; allowed: a, nested' },
    ]);
    expect(errorsOf(schema, { nested: { b: 1 } })).toEqual([{ path: 'nested.b', message: 'unknown member' }]);
    expect(errorsOf(schema, { b: '1' }, 'parameter')).toEqual([
      { path: 'b', message: 'unknown parameter; allowed: a, nested' },
    ]);
  });
});

describe('a collection with too many members', () => {
  const seen: unknown[] = [];
  const member = z.string().refine((value) => seen.push(value) === 0, 'must be refused');
  const many = Array.from({ length: 300 }, (_, index) => `m${index}`);

  test.each<[title: string, schema: z.ZodType, value: unknown, message: string]>([
    ['a list', list(member), many, 'must have at most 256 entries'],
    [
      'names',
      record(member, z.string()),
      Object.fromEntries(many.map((name) => [name, ''])),
      'must have at most 256 members',
    ],
    ['values', record(z.string(), member, 200), { ...many }, 'must have at most 200 members'],
  ])('has one error, and its members are not validated: %s', (_, schema, value, message) => {
    seen.length = 0;
    expect(errorsOf(z.strictObject({ large: schema }), { large: value })).toEqual([{ path: 'large', message }]);
    expect(seen).toEqual([]);
  });

  test('is rejected by every endpoint without an error for a member', () => {
    // More than any collection of a body can have: an import has 2,001 files.
    const tooMany = [Array(3000).fill(0), Object.fromEntries(Array(3000).fill(0).entries())];
    for (const { title, schema } of inputs) {
      for (const name of schema instanceof z.ZodObject ? Object.keys(schema.shape) : []) {
        const errors = tooMany.flatMap((value) => errorsOf(schema, { [name]: value }));
        // An object with a fixed set of members reports the unknown ones without validating them.
        const ofMembers = errors.filter(
          ({ path, message }) => /\.\d+$/.test(path) && !message.startsWith('unknown member'),
        );
        expect({ title, name, ofMembers }).toEqual({ title, name, ofMembers: [] });
      }
    }
  });
});

const WRONG_VALUES: readonly unknown[] = [
  undefined,
  null,
  true,
  '',
  ' ',
  'a'.repeat(40_000),
  -1,
  0,
  1.5,
  1e20,
  Number.POSITIVE_INFINITY,
  [],
  {},
  [1],
  [''],
  [{}],
  Array.from({ length: 300 }, () => ({})),
  { a: 1 },
  { 'not a name': {} },
  { kind: 'token' },
  [{ a: 1 }],
  { kind: 'client_certificate', certificate: '', key: 1 },
];

const inputs = [hubService, fleetService].flatMap((service) =>
  Object.values(service.endpoints).flatMap(({ operationId, query, body }) => [
    { title: `the query of ${service.title} ${operationId}`, schema: query },
    { title: `the body of ${service.title} ${operationId}`, schema: body },
  ]),
);

test.each(inputs)('the field errors of $title contain no message of zod', ({ schema }) => {
  const members = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  const values = [...WRONG_VALUES, ...members.flatMap((member) => WRONG_VALUES.map((wrong) => ({ [member]: wrong })))];
  const messages = new Set(values.flatMap((value) => errorsOf(schema, value)).map(({ message }) => message));
  expect(
    [...messages].filter(
      (message) => /^(its name )?(must|is required|has|unknown (member|parameter))/.exec(message) === null,
    ),
  ).toEqual([]);
});

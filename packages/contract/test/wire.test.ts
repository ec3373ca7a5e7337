import { describe, expect, test } from '@jest/globals';
import type { z } from 'zod';
import {
  commaSeparated,
  completePagination,
  flag,
  line,
  name,
  paginationOf,
  paging,
  queryInteger,
  slug,
  text,
  uuid,
} from '../src/index.ts';

const messagesOf = (schema: z.ZodType, value: unknown) =>
  schema.safeParse(value).error?.issues.map(({ message }) => message) ?? [];

describe('an integer in a query', () => {
  const number = queryInteger(1, 100);

  test.each([
    ['1', 1],
    ['100', 100],
    ['007', 7],
  ])('%p is parsed as %p', (given, expected) => {
    expect(number.parse(given)).toBe(expected);
  });

  test.each([
    '',
    ' ',
    '0',
    '101',
    '-1',
    '+5',
    ' 5',
    '5 ',
    '5\n',
    '5.0',
    '1e2',
    '0x10',
    '0b1',
    '1_0',
    '٣',
    '５',
    'ten',
    'NaN',
    'Infinity',
    '9'.repeat(400),
  ])('%p is rejected with the bounds', (given) => {
    expect(messagesOf(number, given)).toContain('must be an integer from 1 to 100');
  });

  test.each([[5], [['5']], [true], [null]])('%p, which is not a string, is rejected', (given) => {
    expect(number.safeParse(given).success).toBe(false);
  });
});

describe('a boolean in a query', () => {
  test.each([
    ['true', true],
    ['false', false],
  ])('%p is parsed as %p', (given, expected) => {
    expect(flag.parse(given)).toBe(expected);
  });

  test.each(['', '1', '0', 'yes', 'TRUE', ' true'])('%p is rejected', (given) => {
    expect(messagesOf(flag, given)).toEqual(['must be true or false']);
  });
});

test.each([
  ['a,b', ['a', 'b']],
  [' a , b ', ['a', 'b']],
  [',,a,,', ['a']],
  ['', []],
  ['a b,c', ['a b', 'c']],
])('the comma-separated list %p is parsed as %p', (given, expected) => {
  expect(commaSeparated.parse(given)).toEqual(expected);
});

test('a UUID is accepted in either case and converted to lower case', () => {
  expect(uuid.parse('0190C5A0-ABCD-7000-8000-00000000000F')).toBe('0190c5a0-abcd-7000-8000-00000000000f');
});

test.each([
  '',
  '0190c5a0abcd70008000000000000000',
  '{0190c5a0-abcd-7000-8000-000000000000}',
  '0190c5a0-abcd-7000-8000-00000000000g',
  '0190c5a0-abcd-7000-8000-0000000000000',
  '0190c5a0-abcd-7000-8000-000000000000\n',
])('%p is not a UUID', (given) => {
  expect(messagesOf(uuid, given)).toEqual(['must be a UUID']);
});

describe('text', () => {
  test('can contain line breaks and tabs', () => {
    expect(text(100).parse('a\r\n\tb')).toBe('a\r\n\tb');
  });

  test.each(['\u0000', '\u0007', '\u001b', '\u001f', '\u007f'])(
    'with the control character %p is rejected',
    (character) => {
      expect(messagesOf(text(100), `a${character}b`)).toEqual(['must not contain control characters']);
    },
  );

  test('that is too long is rejected with the maximum length', () => {
    expect(messagesOf(text(3), 'abcd')).toEqual(['must have at most 3 characters']);
  });

  test.each(['a\nb', 'a\rb', 'a\tb'])('of one line cannot be %p', (given) => {
    expect(messagesOf(line(100), given)).toEqual(['must not contain line breaks, tabs or other control characters']);
  });
});

test('surrounding white space is removed from a name', () => {
  expect(name.parse('  My App \u3000')).toBe('My App');
});

test('a name is rejected if its folded form is too long for an index', () => {
  expect(name.parse('ﷺ'.repeat(33))).toHaveLength(33); // each character folds to 18 characters
  expect(messagesOf(name, 'ﷺ'.repeat(34))).toHaveLength(1);
});

test.each(['', '   ', '\u00a0'])('the blank name %p is rejected', (given) => {
  expect(messagesOf(name, given)).toEqual(['must not be blank']);
});

test.each(['a', '0', 'a-b', 'a--b', 'a'.repeat(64), 'updates-2'])('%p is a slug', (given) => {
  expect(slug.parse(given)).toBe(given);
});

test.each(['', '-', '-a', 'a-', 'A', 'a_b', 'a.b', 'a b', 'é', 'a'.repeat(65), 'a\n'])('%p is not a slug', (given) => {
  expect(messagesOf(slug, given)).toEqual(['must have 1 to 64 lower-case letters, digits and inner hyphens']);
});

test('a slug cannot be the name of a route', () => {
  expect(messagesOf(slug, 'updates')).toEqual(['must not be a reserved word: updates']);
});

test('the default is page 1 with 50 entries', () => {
  expect(paging.page.parse(undefined)).toBe(1);
  expect(paging.limit.parse(undefined)).toBe(50);
});

test.each([
  ['100', true],
  ['101', false],
  ['0', false],
])('a page size of %s is accepted: %p', (given, allowed) => {
  expect(paging.limit.safeParse(given).success).toBe(allowed);
});

test.each([
  [0, 0],
  [1, 1],
  [50, 1],
  [51, 2],
])('%p rows have %p pages of 50 rows', (total, totalPages) => {
  expect(paginationOf({ page: 3, limit: 50 }, total)).toEqual({ page: 3, limit: 50, total, totalPages });
});

test.each([
  [0, 0],
  [7, 1],
])('a complete list of %p entries has %p pages', (total, totalPages) => {
  expect(completePagination(total)).toEqual({ page: 1, limit: total, total, totalPages });
});

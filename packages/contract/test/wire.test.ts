import { describe, expect, test } from '@jest/globals';
import type { z } from 'zod';
import {
  commaSeparated,
  flag,
  line,
  name,
  paginationOf,
  paging,
  slug,
  text,
  uuid,
  wholeNumber,
  wholePagination,
} from '../src/index.ts';

const messagesOf = (schema: z.ZodType, value: unknown) =>
  schema.safeParse(value).error?.issues.map(({ message }) => message) ?? [];

describe('a whole number in a query', () => {
  const number = wholeNumber(1, 100);

  test.each([
    ['1', 1],
    ['100', 100],
    ['007', 7],
  ])('%p is %p', (given, expected) => {
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
  ])('%p is refused with its bounds', (given) => {
    expect(messagesOf(number, given)).toContain('must be a whole number from 1 to 100');
  });

  test.each([[5], [['5']], [true], [null]])('%p, which is no text, is refused', (given) => {
    expect(number.safeParse(given).success).toBe(false);
  });
});

describe('a flag in a query', () => {
  test.each([
    ['true', true],
    ['false', false],
  ])('%p is %p', (given, expected) => {
    expect(flag.parse(given)).toBe(expected);
  });

  test.each(['', '1', '0', 'yes', 'TRUE', ' true'])('%p is refused', (given) => {
    expect(messagesOf(flag, given)).toEqual(['must be true or false']);
  });
});

test.each([
  ['a,b', ['a', 'b']],
  [' a , b ', ['a', 'b']],
  [',,a,,', ['a']],
  ['', []],
  ['a b,c', ['a b', 'c']],
])('the comma-separated list %p is %p', (given, expected) => {
  expect(commaSeparated.parse(given)).toEqual(expected);
});

test('a UUID is taken in either case and is lower case inside', () => {
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
  test('may have line breaks and tabs', () => {
    expect(text(100).parse('a\r\n\tb')).toBe('a\r\n\tb');
  });

  test.each(['\u0000', '\u0007', '\u001b', '\u001f', '\u007f'])(
    'must not hold the control character %p',
    (character) => {
      expect(messagesOf(text(100), `a${character}b`)).toEqual(['must not hold control characters']);
    },
  );

  test('has its bound named', () => {
    expect(messagesOf(text(3), 'abcd')).toEqual(['must have at most 3 characters']);
  });

  test.each(['a\nb', 'a\rb', 'a\tb'])('of one line must not be %p', (given) => {
    expect(messagesOf(line(100), given)).toEqual(['must be one line']);
  });
});

test('a name loses the white space around it', () => {
  expect(name.parse('  My App \u3000')).toBe('My App');
});

test('a name whose folded form would not fit an index is refused', () => {
  expect(name.parse('ﷺ'.repeat(33))).toHaveLength(33); // each folds to 18 characters
  expect(messagesOf(name, 'ﷺ'.repeat(34))).toHaveLength(1);
});

test.each(['', '   ', '\u00a0'])('the name %p is blank', (given) => {
  expect(messagesOf(name, given)).toEqual(['must not be blank']);
});

test.each(['a', '0', 'a-b', 'a--b', 'a'.repeat(64), 'updates-2'])('%p is a slug', (given) => {
  expect(slug.parse(given)).toBe(given);
});

test.each(['', '-', '-a', 'a-', 'A', 'a_b', 'a.b', 'a b', 'é', 'a'.repeat(65), 'a\n'])('%p is no slug', (given) => {
  expect(messagesOf(slug, given)).toEqual(['must have 1 to 64 lower-case letters, digits and inner hyphens']);
});

test('a slug is never a word that is a route', () => {
  expect(messagesOf(slug, 'updates')).toEqual(['must not be updates: a route has that name']);
});

test('a list has page 1 and 50 on a page unless the caller says otherwise', () => {
  expect([paging.page.parse(undefined), paging.limit.parse(undefined)]).toEqual([1, 50]);
});

test.each([
  ['100', true],
  ['101', false],
  ['0', false],
])('a page size of %s is allowed: %p', (given, allowed) => {
  expect(paging.limit.safeParse(given).success).toBe(allowed);
});

test.each([
  [0, 0],
  [1, 1],
  [50, 1],
  [51, 2],
])('%p rows make %p pages of 50', (total, totalPages) => {
  expect(paginationOf({ page: 3, limit: 50 }, total)).toEqual({ page: 3, limit: 50, total, totalPages });
});

test.each([
  [0, 0],
  [7, 1],
])('a list of %p that was answered whole has %p pages', (total, totalPages) => {
  expect(wholePagination(total)).toEqual({ page: 1, limit: total, total, totalPages });
});

import { expect, test } from '@jest/globals';
import { fold, line, searchText, slug, slugOf } from '../src/index.ts';

test.each([
  ['upper and lower case', 'PostgreSQL', 'postgresql'],
  ['composed and decomposed letters', 'Cafe\u0301', 'caf\u00e9'],
  ['full-width and ordinary letters', 'ＧＰＵ', 'gpu'],
  ['a ligature and its letters', 'ﬁle', 'file'],
  ['a superscript and its digit', 'm²', 'm2'],
])('folding removes the difference between %s', (_, one, other) => {
  expect(fold(one)).toBe(fold(other));
});

test('folding preserves accents, spaces and punctuation', () => {
  expect(fold('É %_\\ x')).toBe('é %_\\ x');
});

test('the search text contains each folded text', () => {
  expect(searchText('My App', 'Fast CACHE')).toContain(fold('my app'));
  expect(searchText('My App', 'Fast CACHE')).toContain(fold('fast cache'));
});

test('a search term cannot match across two texts of one row', () => {
  const between = searchText('ab', 'cd').slice(2, -2);
  expect(between).not.toBe('');
  expect(line(200).safeParse(between).success).toBe(false);
});

test.each([
  ['My App', 'my-app'],
  ['  Postgres 16.2 (HA)  ', 'postgres-16-2-ha'],
  ['Crème brûlée', 'creme-brulee'],
  ['ＧＰＵ node', 'gpu-node'],
  ['--- x ---', 'x'],
  ['日本語', ''],
  ['', ''],
])('the slug of %p is %p', (name, expected) => {
  expect(slugOf(name)).toBe(expected);
});

test.each([
  ['a long name', 'a'.repeat(200)],
  ['a name whose 64th letter is a hyphen', `${'a'.repeat(63)} b`],
  ['a name with much punctuation', '*a*'.repeat(60)],
])('the slug of %s is valid', (_, name) => {
  expect(slug.safeParse(slugOf(name)).success).toBe(true);
});

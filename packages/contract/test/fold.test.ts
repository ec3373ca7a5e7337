import { expect, test } from '@jest/globals';
import { fold, foldSearch, line, searchText, slug, slugOf, wordsOf } from '../src/index.ts';

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

test.each([
  ['a final and an ordinary sigma', 'ΟΔΟΣ', 'οδοσ'],
  ['a final sigma and its capital', 'οδός', 'ΟΔΌΣ'],
  ['a dotted capital I and i', 'İstanbul', 'istanbul'],
  ['a dotless i and its capital', 'ısparta', 'ISPARTA'],
  ['a sharp s and its capitals', 'Straße', 'STRASSE'],
  ['a capital sharp s and its letters', 'STRAẞE', 'strasse'],
])('folding for search removes the difference between %s', (_, one, other) => {
  expect(foldSearch(one)).toBe(foldSearch(other));
});

test('a text that is folded for search does not change again', () => {
  const text = 'İΣς ẞß ıI Ǆ ﬁ ΐ ὈΔΌΣ';
  expect(foldSearch(foldSearch(text))).toBe(foldSearch(text));
});

test.each([
  ['Crème brûlée', ['creme', 'brulee']],
  ['docker.io/library/postgres:17.5', ['docker', 'io', 'library', 'postgres', '17', '5']],
  ['open-webui_2', ['open', 'webui', '2']],
  ['Łódź Ørsted Ærø', ['lodz', 'orsted', 'aero']],
  ['データ db', ['デ', 'ー', 'タ', 'db']],
  ['한국어', ['한국어']],
  ['हिन्दी', ['हिन्दी']],
  [' -- ', []],
])('the words of %p are %p', (text, words) => {
  expect(wordsOf(text)).toEqual(words);
});

test('the search text contains each folded text', () => {
  expect(searchText('My App', 'Fast CACHE')).toContain(foldSearch('my app'));
  expect(searchText('My App', 'Fast CACHE')).toContain(foldSearch('fast cache'));
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

import { expect, test } from '@jest/globals';
import { changedLines } from '../src/shared/ui/display/diff.ts';

const marks = { same: ' ', added: '+', removed: '-' } as const;
const shown = (before: string, after: string) =>
  changedLines(before, after).map(({ kind, text }) => `${marks[kind]}${text}`);
const numbered = (count: number, name: string) => Array.from({ length: count }, (_, index) => `${name} ${index}`);

test('a difference has the changed lines and three lines around them', () => {
  const before = numbered(20, 'line');
  const after = before.with(10, 'another line');
  expect(shown(before.join('\n'), after.join('\n'))).toEqual([
    ' line 7',
    ' line 8',
    ' line 9',
    '-line 10',
    '+another line',
    ' line 11',
    ' line 12',
    ' line 13',
  ]);
});

test('equal texts have no difference, and an empty text has no lines', () => {
  expect(shown('a\nb', 'a\nb')).toEqual([]);
  expect(shown('', 'a\nb')).toEqual(['+a', '+b']);
  expect(shown('a\nb', '')).toEqual(['-a', '-b']);
});

test('a line is the same if others follow it', () => {
  expect(shown('a', 'a\nb')).toEqual([' a', '+b']);
});

test('texts with more than 200 changes are shown completely, the earlier one first', () => {
  const before = numbered(400, 'before');
  const after = numbered(400, 'after');
  expect(shown(before.join('\n'), after.join('\n'))).toEqual([
    ...before.map((line) => `-${line}`),
    ...after.map((line) => `+${line}`),
  ]);
});

import { expect, test } from '@jest/globals';
import { boundedTokens } from '../src/shared/ui/display/bounded-markdown.ts';

const nestedList = (levels: number) =>
  Array.from({ length: levels }, (_, level) => `${'  '.repeat(level)}- a${level}\n`).join('');

/** The number of nested arrays of tokens. */
const depthOf = (value: unknown): number => {
  if (typeof value !== 'object' || value === null) return 0;
  const isTokens = Array.isArray(value) && value.some((one) => Object.hasOwn(Object(one), 'raw') && !('task' in one));
  return Number(isTokens) + Math.max(0, ...Object.values(value).map(depthOf));
};

test('ordinary documentation is parsed', () => {
  const text =
    '# Redis\n\nA *fast* cache.\n\n> - quoted\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n---\n\n----------------------\n';
  const types = boundedTokens(text)?.map(({ type }) => type);
  expect(types?.filter((type) => type !== 'space')).toEqual([
    ...['heading', 'paragraph', 'blockquote', 'table', 'hr', 'hr'],
  ]);
});

test.each([
  ['of quotes', '>'.repeat(100_000)],
  ['of headings', '#\n'.repeat(250_000)],
  ['of headings that is not too long', '#\n'.repeat(25_000)],
  ['of quotes that is not too long', `a\n\n${'>'.repeat(21)} b`],
  ['of lists in one line', `${'- '.repeat(21)}b`],
  ['of numbered lists and quotes', `${'1. > '.repeat(11)}b`],
  ['of cells', `|a|\n|-|\n${'|a|\n'.repeat(12_000)}`],
])('a text %s is shown as it is', (_, text) => {
  expect(boundedTokens(text)).toBeUndefined();
});

test('blocks that are too deep become text, and no character is lost', () => {
  const tokens = boundedTokens(nestedList(60));
  expect(depthOf(tokens)).toBe(20);
  const shown = JSON.stringify(tokens);
  expect(shown).toContain('"type":"raw"');
  expect(shown).toContain('a59');
  expect(depthOf(boundedTokens(nestedList(10)))).toBe(12);
});

import { expect, test } from '@jest/globals';
import type { Token } from 'marked';
import { boundedTokens, headingIds } from '../src/shared/ui/markdown/bounded-markdown.ts';
import { decodeEntities } from '../src/shared/ui/markdown/entities.ts';

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

/** Tokens in few words: their types, with addresses and texts. */
const outline = (tokens: readonly Token[]): unknown =>
  tokens
    .filter(({ type }) => type !== 'space')
    .map((token) => {
      const { type, name, href, text, tokens: parts, items } = Object(token);
      if (type === 'text' && !parts) return decodeEntities(text);
      const label = [type === 'element' ? name : type, href].filter((part) => part !== undefined).join(' ');
      const inner = items ? items.flatMap((item: { tokens: Token[] }) => item.tokens) : parts;
      return inner && type !== 'image' ? { [label]: outline(inner) } : text ? `${label} ${text}` : label;
    });

test.each([
  ['a comment', 'a <!-- b --> c\n\n<!-- d\n\ne -->\n\nf', [{ paragraph: ['a ', ' c'] }, { paragraph: ['f'] }]],
  ['a line break', 'a<br>b<BR/>', [{ paragraph: ['a', 'br', 'b', 'br'] }]],
  ['a badge', '[![CI](i.svg)](https://x.y)', [{ paragraph: [{ 'link https://x.y': ['image i.svg CI'] }] }]],
  [
    'a badge in HTML',
    '<p align="center">\n<a href="https://x.y?a=1&amp;b=2"><img src="i.svg" alt="CI"></a> and\n</p>',
    [{ paragraph: ['\n', { 'link https://x.y?a=1&b=2': ['image i.svg CI'] }, ' and\n'] }],
  ],
  [
    'a section that opens',
    '<details>\n<summary>More <b>words</b></summary>\n\n- a\n\n</details>\n\nb',
    [{ details: [{ summary: ['More ', { strong: ['words'] }] }, { list: [{ text: ['a'] }] }] }, { paragraph: ['b'] }],
  ],
  ['a key', 'press <kbd>Esc</kbd>', [{ paragraph: ['press ', { kbd: ['Esc'] }] }]],
  ['a heading in HTML', '<h1 align="center">Name</h1>', [{ heading: ['Name'] }]],
  ['an unknown element', 'a <x-y onclick="z()">b</x-y> c', [{ paragraph: ['a ', 'b', ' c'] }]],
  ['a script', 'a <script>b()</script> c\n\n<style>\nd\n</style>', [{ paragraph: ['a ', ' c'] }]],
  ['an element that is not closed', 'a <b>b', [{ paragraph: ['a ', { strong: ['b'] }] }]],
  ['an end without a start', 'a</b> c', [{ paragraph: ['a', ' c'] }]],
  ['a less-than sign', '1 < 2 and <3', [{ paragraph: ['1 < 2 and <3'] }]],
  ['metadata and a byte order mark', '\ufeff---\ntitle: A\n---\n\nb', [{ paragraph: ['b'] }]],
  ['a rule at the start', '---\n\na\n\n---\n', ['hr', { paragraph: ['a'] }, 'hr']],
  ['a task', '- [x] a', [{ list: ['checkbox', { text: ['a'] }] }]],
])('%s is shown as on a forge', (_, text, expected) => {
  expect(outline(boundedTokens(text) ?? [])).toEqual(expected);
});

test('character references are decoded, and unknown ones stay', () => {
  expect(decodeEntities('&amp;&copy;&nbsp;&#8594;&#x1F600;&rarr;&#0;&#xd800;&unknown; &')).toBe(
    '&©\u00a0→😀→\ufffd\ufffd&unknown; &',
  );
});

test('headings have the ids that links in the text name', () => {
  const tokens = boundedTokens('# Set up\n\n## Use `x_y`, now!\n\n# Set up\n\n> ## Ünïcode\n') ?? [];
  expect([...headingIds(tokens).values()]).toEqual(['set-up', 'use-x_y-now', 'set-up-1', 'ünïcode']);
});

test.each([
  ['open tags', '<b>'.repeat(16_000)],
  ['tags that are not complete', '<a '.repeat(16_000)],
  ['quotes that are not complete', `<div ${'a="'.repeat(16_000)}`],
  ['ends of tags', '</i>'.repeat(12_000)],
  ['comments that are not complete', '<!--'.repeat(12_000)],
  ['ampersands', '&a'.repeat(25_000)],
])('a text of %s needs no more steps than its length permits', (_, text) => {
  // A quadratic number of steps would exceed the time limit of a test.
  expect(() => decodeEntities(text) && boundedTokens(`x ${text}\n\n<div>\n${text}`)).not.toThrow();
});

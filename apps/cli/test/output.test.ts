import { jest } from '@jest/globals';
import { parse } from 'yaml';
import { type Format, print } from '../src/output.ts';
import { logLine, visible } from '../src/text.ts';

const HOSTILE = 'a\u001b[2J\u0000b\u009b1mc\u202ed\u2028e\tf\ng\u007f';
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that must not be printed
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

async function printed(value: unknown, format: Format): Promise<string> {
  let text = '';
  const spy = jest.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  await print(value, { format, as: () => ({ columns: ['NAME', 'VALUE'], rows: [['hostile', HOSTILE]] }) });
  spy.mockRestore();
  return text;
}

test.each<[Format, (text: string) => unknown]>([
  ['json', (text) => JSON.parse(text)],
  ['yaml', (text) => parse(text)],
])('%s has no control characters, and has the value', async (format, read) => {
  const value = { hostile: HOSTILE, list: [HOSTILE, 1, null, true], [`key ${HOSTILE}`]: 'plain: text' };
  const text = await printed(value, format);
  expect(text).not.toMatch(CONTROL);
  expect(read(text)).toEqual(value);
});

test('a table has no control characters, and one line for each row', async () => {
  const text = await printed(undefined, 'table');
  expect(text).not.toMatch(CONTROL);
  expect(text.trimEnd().split('\n')).toHaveLength(2);
  expect(text).toContain('a\\u001b[2J\\u0000b');
});

test('a log keeps its tabs, and loses its colours and other control characters', () => {
  expect(logLine('\u001b[1;31mred\u001b[0m\tand\u001b]0;title\u0007')).toBe('red\tand\\u001b]0;title\\u0007');
  expect(visible('ä 漢 🙂')).toBe('ä 漢 🙂');
});

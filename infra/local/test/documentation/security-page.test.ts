import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';

const folder = path.resolve(import.meta.dirname, '../../../../docs');
const page = fs.readFileSync(path.join(folder, 'security.md'), 'utf8');
const rowsOf = (heading: string) =>
  (page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '')
    .split('\n')
    .filter((line) => /^\| [^|]*[a-z]/.test(line))
    .slice(1);

/** Whether a file is a test that exists and that CI runs. */
const isTest = (file: string) =>
  file.endsWith('.test.ts') && !file.endsWith('.full.test.ts') && fs.existsSync(path.join(folder, file));

test.each(
  rowsOf('Guarantees').map((row) =>
    row
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, 3),
  ),
)('docs/security.md names tests that CI runs for the guarantee: %s', (_, tests = '') => {
  const files = [...tests.matchAll(/\]\((\.\.[^)]+)\)/g)].map(([, file = '']) => file);
  expect(files).not.toEqual([]);
  expect(files.filter((file) => !isTest(file))).toEqual([]);
});

test.each(
  rowsOf('Attacks with former rights').map((row) =>
    row
      .split('|')
      .map((cell) => cell.trim())
      .slice(2, 4),
  ),
)('docs/security.md names the title of a test that CI runs for the attack: %s', (_, tests = '') => {
  const links = [...tests.matchAll(/\[([^\]]+)\]\((\.\.[^)]+)\)/g)].map(([, title = '', file = '']) => ({
    title,
    file,
  }));
  expect(links).not.toEqual([]);
  const isIn = ({ title, file }: (typeof links)[number]) =>
    isTest(file) && fs.readFileSync(path.join(folder, file), 'utf8').includes(title);
  expect(links.filter((link) => !isIn(link))).toEqual([]);
});

test.each(
  rowsOf('Threats').map((row) =>
    row
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, 4),
  ),
)('docs/security.md names where a threat is prevented: %s', (_, _prevention, where = '') => {
  const files = [
    ...[...where.matchAll(/`((?:packages|apps)\/[^`]+)`/g)].map(([, file]) => `../${file}`),
    ...[...where.matchAll(/\]\(([^)#]+)/g)].map(([, file = '']) => file),
  ];
  expect(files).not.toEqual([]);
  expect(files.filter((file) => !fs.existsSync(path.join(folder, file)))).toEqual([]);
});

import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { problemCodes, problems } from '@svc/contract';

const root = path.resolve(import.meta.dirname, '../../../..');
const page = fs.readFileSync(path.join(root, 'docs/status-codes.md'), 'utf8');
const rows = page.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));

const rowOf = (code: string) => rows.find(([, , cell]) => cell === `\`${code}\``) ?? [];

test.each(problemCodes)('docs/status-codes.md states status, senders, meaning and action of %s', (code) => {
  const [, status, , senders = '', meaning, action] = rowOf(code);
  expect(status).toBe(`${problems[code].status}`);
  expect(senders).toMatch(/^(hub|fleet|hub, fleet)$/);
  expect(meaning).toMatch(/\w/);
  expect(action).toMatch(/^[A-Z]/);
});

/** The codes of the problems that the sources in these folders construct. */
function constructedIn(...folders: string[]): string[] {
  const files = folders.flatMap((folder) =>
    fs
      .readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.includes('generated'))
      .map((name) => path.join(root, folder, name)),
  );
  const found = files.flatMap((file) => [
    ...fs.readFileSync(file, 'utf8').matchAll(/(?:new Problem\(|refusal\(|code: |code = )\s*'(\w+)'/g),
  ]);
  return problemCodes.filter((code) => found.some(([, name]) => name === code));
}

test.each([
  ['hub', ['apps/hub/src', 'packages/http/src', 'packages/auth/src']],
  ['fleet', ['apps/fleet/src', 'packages/http/src', 'packages/auth/src']],
])('docs/status-codes.md lists the %s as a sender of each problem that its code constructs', (service, folders) => {
  const constructed = constructedIn(...folders);
  expect(constructed.length).toBeGreaterThan(15);
  expect(constructed.filter((code) => !rowOf(code)[3]?.split(', ').includes(service))).toEqual([]);
});

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { harmless } from '../src/index.ts';

test('the documentation lists the harmless differences with their reasons, and no others', () => {
  const page = readFileSync(path.resolve(import.meta.dirname, '../../../docs/convert.md'), 'utf8');
  const [, section = ''] = page.split('## Harmless differences');
  const rows = [...section.matchAll(/^\| `(\w+)` \| (.+) \|$/gm)].map(([, name, reason]) => [name, reason]);
  expect(Object.fromEntries(rows)).toEqual(harmless);
});

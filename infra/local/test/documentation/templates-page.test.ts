import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import {
  newTemplate,
  ownedTemplate,
  templateDefaults,
  templateFieldNames,
  templateFields,
  templateReply,
} from '@svc/contract';

const page = fs.readFileSync(path.resolve(import.meta.dirname, '../../../../docs/templates.md'), 'utf8');
const rows = page.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
const rowOf = (member: string) => rows.find(([, cell]) => cell === `\`${member}\``) ?? [];
const rowsLike = (pattern: RegExp) => [...page.matchAll(pattern)].map(([, name]) => name).sort();

/** What only administrators see (docs/hub-administration.md). */
const ELSEWHERE = ['resource_version', 'warnings'];
/** `message` is about a change, and no member of the template. */
const { message: _, ...given } = newTemplate.shape;
const members = [...new Set([...Object.keys(given), ...Object.keys(templateReply)])];

test('docs/templates.md describes each member of a template, and no other one', () => {
  expect(Object.keys(ownedTemplate.shape)).toEqual(expect.arrayContaining(ELSEWHERE));
  expect(rowsLike(/^\| `([a-z_]+)` \|/gm)).toEqual(members.filter((name) => !ELSEWHERE.includes(name)).sort());
});

test.each(templateFieldNames)('docs/templates.md states the default and the meaning of %s', (member) => {
  const [, , , , defaultValue, , meaning] = rowOf(member);
  expect(defaultValue).toBe(`\`${JSON.stringify(templateDefaults[member])}\``);
  expect(meaning).toMatch(/\w/);
});

const { env, env_schema, ports, volume_mounts, tmpfs, files, secret_refs, tolerations } = templateFields;

test.each(Object.entries({ env, env_schema, ports, volume_mounts, tmpfs, files, secret_refs, tolerations }))(
  'docs/templates.md describes each member of the objects in %s, and no other one',
  (list, { element }) => {
    expect(rowsLike(new RegExp(`^\\| \`${list}\\.(\\w+)\` \\|`, 'gm'))).toEqual(Object.keys(element.shape).sort());
  },
);

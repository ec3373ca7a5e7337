import { readFileSync } from 'node:fs';
import { coveredMembers, reasons } from '../src/index.ts';

const page = readFileSync(new URL('../../../docs/trust.md', import.meta.url), 'utf8');

it.each(Object.keys(reasons))('documents the reason %s', (reason) => {
  expect(page).toContain(`\`${reason}\``);
});

it('documents the covered members that no workload copies', () => {
  expect(coveredMembers).toEqual(expect.arrayContaining(['name', 'slug', 'description', 'documentation', 'version']));
  expect(page).toContain('`name`, `slug`, `description`, `documentation`, `version`, and all members that a workload');
});

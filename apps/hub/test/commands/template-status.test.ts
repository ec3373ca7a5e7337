// The status of templates in catalog files.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { exportCatalog } from '../../src/commands/export.ts';
import { importCatalog } from '../../src/commands/import.ts';
import { startWorld } from '../world.ts';

const world = await startWorld();
const { client } = world.database;
const folders = mkdtempSync(path.join(tmpdir(), 'template-status-'));
afterAll(async () => {
  rmSync(folders, { recursive: true });
  await world.stop();
});

const aFolder = () => mkdtempSync(path.join(folders, 'catalog-'));

/** Imports a template. `rest` are the members of its file beside name and category. */
function importTemplate(slug: string, rest = '') {
  const folder = aFolder();
  mkdirSync(path.join(folder, 'templates'));
  writeFileSync(path.join(folder, 'categories.yaml'), '- { slug: tools, name: Tools }\n');
  writeFileSync(path.join(folder, 'templates', `${slug}.yaml`), `name: Server\ncategory: tools\n${rest}`);
  return importCatalog(world.database, { folder, dryRun: false });
}

const statusOf = (slug: string) =>
  client.template.findUniqueOrThrow({
    where: { slug },
    select: { status: true, status_message: true, replacement: true },
  });

const stated = 'status: deprecated\nstatus_message: Use the new one.\nreplacement: new-one\n';
const deprecated = { status: 'deprecated', status_message: 'Use the new one.', replacement: 'new-one' };

test('a file sets the status, a file without it keeps it, and a file can set it to active', async () => {
  await importTemplate('kept', stated);
  expect(await statusOf('kept')).toEqual(deprecated);
  expect((await importTemplate('kept')).at(-1)).toBe('0 created, 0 updated, 2 unchanged');
  expect(await statusOf('kept')).toEqual(deprecated);
  expect(await importTemplate('kept', 'status: active\n')).toContain('update template kept (status)');
  expect(await statusOf('kept')).toEqual({ ...deprecated, status: 'active' });
});

test('an export writes a status other than active, and its import changes nothing', async () => {
  await importTemplate('written', stated);
  await importTemplate('unwritten');
  const folder = aFolder();
  await exportCatalog(world.database, { folder, prune: false });
  const textOf = (slug: string) => readFileSync(path.join(folder, 'templates', `${slug}.yaml`), 'utf8');
  expect(textOf('written')).toContain('status: deprecated');
  expect(textOf('unwritten')).not.toContain('status');
  expect((await importCatalog(world.database, { folder, dryRun: true })).at(-1)).toMatch(/0 to create, 0 to update/);
  expect((await exportCatalog(world.database, { folder, prune: false })).join('\n')).not.toContain('templates/');
});

test.each([
  ['blocked without a reason', 'status: blocked\n', 'status_message: is required'],
  ['an unknown status', 'status: broken\n', 'status: must be active, deprecated or blocked'],
  ['the template itself as its replacement', 'replacement: refused\n', 'replacement: must be the slug of another'],
])('%s is an error of the file', async (_, rest, message) => {
  await expect(importTemplate('refused', rest)).rejects.toThrow(message);
});

test('a file cannot remove the reason of a template that is blocked', async () => {
  await importTemplate('blocked', 'status: blocked\nstatus_message: Broken\n');
  await expect(importTemplate('blocked', 'status_message: ""\n')).rejects.toThrow('status_message: is required');
  await importTemplate('blocked', 'status: active\nstatus_message: ""\n');
  expect(await statusOf('blocked')).toMatchObject({ status: 'active', status_message: '' });
});

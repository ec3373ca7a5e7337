// Applications as files: import, export, prune and lint.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { exportCatalog } from '../../src/commands/export.ts';
import { importCatalog } from '../../src/commands/import.ts';
import { lintFolder } from '../../src/commands/lint.ts';
import { startWorld } from '../world.ts';

const STARTER = path.resolve(import.meta.dirname, '../../../../infra/catalog');
const folders = mkdtempSync(path.join(tmpdir(), 'application-files-'));
const world = await startWorld();
const { client } = world.database;
afterAll(async () => {
  rmSync(folders, { recursive: true });
  await world.stop();
});

const aFolder = () => mkdtempSync(path.join(folders, 'catalog-'));
const run = (folder: string) => importCatalog(world.database, { folder, dryRun: false });

/** A folder with one category and the given application files. */
function folderOf(applications: Record<string, string>): string {
  const folder = aFolder();
  mkdirSync(path.join(folder, 'applications'));
  writeFileSync(path.join(folder, 'categories.yaml'), '- { slug: tools, name: Tools }\n');
  for (const [file, content] of Object.entries(applications))
    writeFileSync(path.join(folder, 'applications', file), content);
  return folder;
}

const minimal = 'name: Server\ncategory: tools\nparts:\n- { name: web, image_name: library/server }\n';

test('the starter catalog has twenty applications without a warning, and a second import changes nothing', async () => {
  const { lines } = await lintFolder(STARTER);
  expect(lines.filter((line) => line.includes('applications/'))).toEqual([]);
  await run(STARTER);
  expect(await client.application.count()).toBeGreaterThanOrEqual(20);
  expect((await run(STARTER)).at(-1)).toMatch(/^0 created, 0 updated, \d+ unchanged$/);
});

test('an export of the starter catalog has the same files, and importing it changes nothing', async () => {
  const folder = path.join(aFolder(), 'export');
  await exportCatalog(world.database, { folder });
  expect(readdirSync(path.join(folder, 'applications'))).toEqual(readdirSync(path.join(STARTER, 'applications')));
  const ghost = readFileSync(path.join(folder, 'applications', 'ghost.yaml'), 'utf8');
  expect(ghost).not.toContain('tolerations');
  expect((await run(folder)).at(-1)).toMatch(/^0 created, 0 updated, \d+ unchanged$/);
  const copy = path.join(aFolder(), 'copy');
  cpSync(STARTER, copy, { recursive: true });
  expect((await exportCatalog(world.database, { folder: copy })).at(-1)).toContain(': 0 files changed in ');
});

test('errors name the file, the line and the member', async () => {
  const folder = folderOf({
    'one.yaml': `${minimal}generated: [{ name: password }]\n`.replace(
      'image_name: library/server }',
      `image_name: x, env: [{ name: A, value: "\${generated.pasword}" }] }`,
    ),
    'two.yaml': minimal.replace('category: tools', 'category: toolz'),
  });
  await expect(run(folder)).rejects.toThrow(
    /one\.yaml:4: parts\.0\.env\.0\.value: must not contain the placeholder generated\.pasword: .*did you mean password\?/,
  );
  rmSync(path.join(folder, 'applications', 'one.yaml'));
  await expect(run(folder)).rejects.toThrow(
    /two\.yaml:2: category: no category has the slug toolz; did you mean tools\?/,
  );
});

test('prune deletes applications without a file, and only then', async () => {
  const folder = folderOf({ 'server.yaml': minimal });
  const count = await client.application.count();
  await run(folder);
  expect(await client.application.count()).toBe(count + 1);
  const prune = { max: 1000, isConfirmed: true };
  const lines = await importCatalog(world.database, { folder, dryRun: false, prune });
  expect(lines).toContain('delete application ghost');
  expect(await client.application.findMany({ select: { slug: true } })).toEqual([{ slug: 'server' }]);
});

test('files that are no applications are ignored with a warning', async () => {
  const folder = folderOf({ 'server.yaml': minimal, 'notes.txt': 'x' });
  const { lines, isClean } = await lintFolder(folder);
  expect(isClean).toBe(false);
  expect(lines).toEqual([
    expect.stringMatching(/notes\.txt: warning: is ignored; application files are applications\/<slug>\.yaml$/),
    expect.stringMatching(/server\.yaml:\d+: parts\.0\.image_tag: latest can be another program/),
    expect.stringMatching(/server\.yaml:\d+: parts: no port is published/),
    '0 templates and 1 applications: 3 warnings',
  ]);
});

test('programs import and export applications of their categories over HTTP', async () => {
  const admin = await world.aUser('admin');
  const { id } = await client.category.findUniqueOrThrow({ where: { slug: 'tools' } });
  const token = await world.aServiceToken(admin, { categories: [id] });
  const files = [{ path: 'applications/server.yaml', content: `${minimal}description: of a program\n` }];
  files.push({ path: 'categories.yaml', content: '- { slug: tools, name: Tools }\n' });
  const imported = await token.post('/api/v1/publish/import', { files });
  expect(imported.body).toMatchObject({
    applied: true,
    changes: [{ verb: 'update', kind: 'application', slug: 'server', members: ['description'] }],
  });
  const exported = await token.get('/api/v1/publish/export');
  expect(exported.body.files.map((file: { path: string }) => file.path)).toEqual([
    'categories.yaml',
    'applications/server.yaml',
  ]);
  expect((await token.post('/api/v1/publish/import', { files: exported.body.files })).body).toMatchObject({
    updated: 0,
  });
});

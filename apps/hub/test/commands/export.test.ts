import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { exportCatalog } from '../../src/commands/export.ts';
import { importCatalog } from '../../src/commands/import.ts';
import { writeCatalog } from '../../src/database/catalog-write.ts';
import { startWorld, type World } from '../world.ts';

const STARTER = path.resolve(import.meta.dirname, '../../../../infra/catalog');

const folders = mkdtempSync(path.join(tmpdir(), 'export-'));
afterAll(() => rmSync(folders, { recursive: true }));
const aFolder = () => path.join(mkdtempSync(path.join(folders, 'new-')), 'catalog');

/**
 * The data that an export preserves: everything except ids, stamps, counts and the weight of the
 * stored rows.
 */
async function contentOf({ database: { client } }: World) {
  const omit = { id: true, created_at: true, updated_at: true } as const;
  const categories = await client.category.findMany({ omit: { ...omit, shown_at: true }, orderBy: { slug: 'asc' } });
  const templates = await client.template.findMany({
    omit: { ...omit, category_id: true, owner_org_id: true, weight: true },
    include: { category: { select: { slug: true } }, owner: { select: { slug: true } } },
    orderBy: { slug: 'asc' },
  });
  return { categories, templates };
}

test('imports an exported catalog with equal data, including owners and unusual text', async () => {
  const source = await startWorld();
  const target = await startWorld();
  await importCatalog(source.database, { folder: STARTER, dryRun: false });
  const owner = await source.anOrganization({ slug: 'acme' });
  await target.anOrganization({ slug: 'acme' });
  const category = await source.aCategory({
    slug: 'odd',
    name: 'Odd: "yes" — ümlaut',
    description: '#\n- no: list\n',
    is_private: true,
  });
  await source.aTemplate({
    slug: 'odd',
    name: '0123',
    description: 'yes',
    version: '1.10',
    category_id: category.id,
    owner_org_id: owner.id,
    is_public: false,
    env: [{ name: 'A', value: 'true' }],
    node_selector: { a: '1e3' },
    tags: ['null', '~'],
    documentation: '  leading\n\n\ttab and trailing  \n\n',
    command: ['', '--x=\n'],
    tolerations: [{ key: 'gpu', operator: 'Exists', tolerationSeconds: 30 }],
    icon_url: 'https://example.com/i.svg',
  });
  const folder = aFolder();
  await exportCatalog(source.database, { folder });
  await importCatalog(target.database, { folder, dryRun: false });
  expect(await contentOf(target)).toEqual(await contentOf(source));
  expect(await importCatalog(source.database, { folder, dryRun: true })).toEqual([
    expect.stringMatching(/^dry run: 0 to create, 0 to update/),
  ]);
  await Promise.all([source.stop(), target.stop()]);
});

test('keeps the owner of a template if its file does not state an owner', async () => {
  const world = await startWorld();
  const { id: template } = await world.aTemplate();
  const folder = aFolder();
  await exportCatalog(world.database, { folder });
  const { id } = await world.anOrganization();
  const admin = await world.aUser('admin');
  expect((await admin.put('/api/v1/admin/templates', { id: template, owner_org_id: id })).status).toBe(200);
  expect(await importCatalog(world.database, { folder, dryRun: false })).toEqual([
    expect.stringMatching(/^0 created, 0 updated/),
  ]);
  const { owner_org_id } = await world.database.client.template.findUniqueOrThrow({ where: { id: template } });
  expect(owner_org_id).toBe(id);
  await world.stop();
});

test('rejects an import with an unknown owner, and writes nothing', async () => {
  const source = await startWorld();
  const target = await startWorld();
  const owner = await source.anOrganization({ slug: 'unknown' });
  await source.aTemplate({ owner_org_id: owner.id });
  const folder = aFolder();
  await exportCatalog(source.database, { folder });
  await expect(importCatalog(target.database, { folder, dryRun: false })).rejects.toThrow(
    /no organization has the slug unknown/,
  );
  expect(await target.database.client.category.count()).toBe(0);
  await Promise.all([source.stop(), target.stop()]);
});

test('rejects an export to a folder that is not empty', async () => {
  const world = await startWorld();
  const folder = aFolder();
  mkdirSync(folder);
  writeFileSync(path.join(folder, 'mine.txt'), 'x');
  await expect(exportCatalog(world.database, { folder })).rejects.toThrow(/not empty/);
  await world.stop();
});

test('changes nothing if an import fails halfway', async () => {
  const source = await startWorld();
  const target = await startWorld();
  await source.aTemplate({ slug: 'first' });
  await source.aTemplate({ slug: 'second' });
  const folder = aFolder();
  await exportCatalog(source.database, { folder });
  // The database rejects the second template, after the categories and the first template were
  // written.
  await target.database.client.$executeRaw`ALTER TABLE templates ADD CONSTRAINT half_way CHECK (slug <> 'second')`;
  const clock = await target.database.client.catalogClock.findFirstOrThrow();
  await expect(importCatalog(target.database, { folder, dryRun: false })).rejects.toThrow();
  expect(await target.database.client.category.count()).toBe(0);
  expect(await target.database.client.template.count()).toBe(0);
  expect(await target.database.client.catalogClock.findFirstOrThrow()).toEqual(clock);
  await Promise.all([source.stop(), target.stop()]);
});

describe('an export to a folder with a catalog', () => {
  let world: World;
  let folder: string;
  const read = (name: string) => readFileSync(path.join(folder, name), 'utf8');
  const write = (name: string, text: string) => writeFileSync(path.join(folder, name), text);
  const ONE = '# A comment.\nname: One\nimage_name: "one"\ncategory: tools\n';

  beforeEach(async () => {
    world = await startWorld();
    folder = aFolder();
    mkdirSync(path.join(folder, 'templates'), { recursive: true });
    write('categories.yaml', '# Mine.\n- { name: Tools, slug: tools }\n');
    write('templates/one.yaml', ONE);
    write('templates/second.yml', 'name: Two\nslug: two\ncategory: tools\n');
    write('README.md', 'mine');
    await importCatalog(world.database, { folder, dryRun: false });
  });
  afterEach(() => world.stop());

  test('writes no file of an object that is equal, whatever its format', async () => {
    expect(await exportCatalog(world.database, { folder })).toEqual([
      `1 categories, 2 templates and 0 applications: 0 files changed in ${folder}`,
    ]);
    expect(read('templates/one.yaml')).toBe(ONE);
    expect(read('categories.yaml')).toBe('# Mine.\n- { name: Tools, slug: tools }\n');
    expect(read('README.md')).toBe('mine');
  });

  test('writes the files of new and changed objects where they are, and prints the members', async () => {
    const admin = await world.aUser('admin');
    const two = await world.database.client.template.findUniqueOrThrow({ where: { slug: 'two' } });
    await admin.put('/api/v1/admin/templates', { id: two.id, version: '1.10', tags: ['no'] });
    await world.aTemplate({ slug: 'three', category_id: two.category_id });
    expect(await exportCatalog(world.database, { folder })).toEqual([
      `create ${path.join('templates', 'three.yaml')}`,
      `update ${path.join('templates', 'second.yml')} (version, tags)`,
      expect.stringMatching(/: 2 files changed/),
    ]);
    expect(read('templates/one.yaml')).toBe(ONE);
    expect(read('templates/second.yml')).toMatch(/^version: "1\.10"\ntags:\n {2}- "no"$/m);
    expect(await importCatalog(world.database, { folder, dryRun: true })).toEqual([
      'dry run: 0 to create, 0 to update, 4 unchanged',
    ]);
  });

  test('keeps the files and entries of objects that the hub does not have, and deletes them with prune', async () => {
    await writeCatalog(world.database, ({ template }) => template.delete({ where: { slug: 'two' } }));
    write('categories.yaml', '- { name: Tools, slug: tools }\n- { name: Other, slug: other }\n');
    expect(await exportCatalog(world.database, { folder })).toEqual([
      'keep category other in categories.yaml: the hub does not have it',
      `keep ${path.join('templates', 'second.yml')}: the hub does not have the template two`,
      expect.stringMatching(/: 0 files changed/),
    ]);
    expect(existsSync(path.join(folder, 'templates/second.yml'))).toBe(true);
    expect(await exportCatalog(world.database, { folder, prune: true })).toEqual([
      'update categories.yaml (other)',
      `delete ${path.join('templates', 'second.yml')}`,
      expect.stringMatching(/: 2 files changed/),
    ]);
    expect(existsSync(path.join(folder, 'templates/second.yml'))).toBe(false);
    expect(read('categories.yaml')).not.toContain('other');
    expect(read('README.md')).toBe('mine');
  });

  test.each([
    ['a file that cannot be read', 'templates/broken.yaml', 'name: [\n', /broken\.yaml:2: cannot be read/],
    [
      'a file with the name of another template',
      'templates/new.yaml',
      'name: New\nslug: other\ncategory: tools\n',
      /describes another object, other/,
    ],
  ])('changes nothing if the folder has %s', async (_, name, text, message) => {
    write(name, text);
    await world.aTemplate({ slug: 'new' });
    await expect(exportCatalog(world.database, { folder, prune: true })).rejects.toThrow(message);
    expect(read(name)).toBe(text);
    expect(existsSync(path.join(folder, 'templates/second.yml'))).toBe(true);
  });
});

test('an export with slugs that an earlier version stored is imported with warnings, and changes nothing', async () => {
  const world = await startWorld();
  const category = await world.aCategory({ slug: 'updates', name: 'Updates' });
  const stored = await world.aTemplate({ slug: '../My App', name: 'App', category_id: category.id });
  await world.aTemplate({ slug: '', name: 'Without', category_id: category.id });
  const folder = aFolder();
  await exportCatalog(world.database, { folder });
  expect(existsSync(path.join(folder, 'templates', `${stored.id}.yaml`))).toBe(true);
  const lines = await importCatalog(world.database, { folder, dryRun: false });
  expect(lines.filter((line) => line.includes(': warning: slug: must'))).toHaveLength(3);
  expect(lines.at(-1)).toBe('0 created, 0 updated, 3 unchanged');
  const [summary] = (await exportCatalog(world.database, { folder })).slice(-1);
  expect(summary).toMatch(/: 0 files changed in /);
  await world.stop();
});

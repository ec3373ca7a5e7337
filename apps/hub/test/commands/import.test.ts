import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isSecretVariable } from '@svc/contract';
import { importCatalog } from '../../src/commands/import.ts';
import { startWorld, type World } from '../world.ts';

const STARTER = path.resolve(import.meta.dirname, '../../../../infra/catalog');

const folders = mkdtempSync(path.join(tmpdir(), 'import-'));
afterAll(() => rmSync(folders, { recursive: true }));
const aFolder = () => mkdtempSync(path.join(folders, 'catalog-'));

/** A folder with one category and the given template files. */
function folderOf(templates: Record<string, string>, categories = '- { slug: tools, name: Tools }\n'): string {
  const folder = aFolder();
  mkdirSync(path.join(folder, 'templates'));
  writeFileSync(path.join(folder, 'categories.yaml'), categories);
  for (const [file, content] of Object.entries(templates)) writeFileSync(path.join(folder, 'templates', file), content);
  return folder;
}

let world: World;
const run = (folder: string, dryRun = false) => importCatalog(world.database, { folder, dryRun });
const prune = (folder: string, given: { max?: number; isConfirmed?: boolean; dryRun?: boolean } = {}) => {
  const { max = 10, isConfirmed = true, dryRun = false } = given;
  return importCatalog(world.database, { folder, dryRun, prune: { max, isConfirmed } });
};
const clock = async () =>
  (await world.database.client.catalogClock.findUniqueOrThrow({ where: { id: 1 } })).at.getTime();
const counts = async () => {
  const { category, template, application } = world.database.client;
  return Promise.all([category.count(), template.count(), application.count()]);
};

// Each test continues where the previous one ended.
describe('the starter catalog', () => {
  beforeAll(async () => {
    world = await startWorld();
    await run(STARTER);
  });
  afterAll(() => world.stop());

  test('has at least 30 templates, and a second import changes nothing', async () => {
    const [categories, templates, applications] = await counts();
    expect(templates).toBeGreaterThanOrEqual(30);
    const stamp = await clock();
    expect(await run(STARTER)).toEqual([`0 created, 0 updated, ${categories + templates + applications} unchanged`]);
    expect(await clock()).toBe(stamp);
  });

  test('declares every variable for a password, a key or a token as secret', async () => {
    const templates = await world.database.client.template.findMany();
    const variables = templates.flatMap(({ slug, env, env_schema }) =>
      // The import stored what the contract accepts.
      [...(env_schema as { name: string; description: string }[]), ...(env as { name: string; description: '' }[])].map(
        ({ name, description = '' }) => ({
          variable: `${slug}: ${name}`,
          name,
          isSecret: isSecretVariable({ description }),
        }),
      ),
    );
    const isSensitive = (name: string) =>
      /PASS|SECRET|KEY(S|$)|_TOKEN$|^DATABASE_URL$/.test(name) && !name.endsWith('_PATH');
    expect(variables.filter(({ isSecret }) => isSecret).length).toBeGreaterThan(30);
    expect(variables.filter(({ name, isSecret }) => isSensitive(name) !== isSecret)).toEqual([]);
  });

  test('answers a search for llama, and hides its private category from callers without a grant', async () => {
    const found = await world.anonymous.get('/api/v1/catalog/templates?search=llama');
    expect(found.body.pagination.total).toBeGreaterThanOrEqual(3);
    const listed = (await world.anonymous.get('/api/v1/catalog/templates')).body.pagination.total;
    expect(listed).toBeLessThan((await counts())[1] ?? 0);
  });

  test('updates only the template of an edited file, and reports the changed members', async () => {
    const folder = aFolder();
    cpSync(STARTER, folder, { recursive: true });
    const before = (await world.anonymous.get('/api/v1/catalog/templates/updates?since=1970-01-01T00:00:00Z')).body
      .checked_at;
    const file = path.join(folder, 'templates', 'qdrant.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^description: .*$/m, 'description: Edited.'));
    expect(await run(folder)).toEqual([
      expect.stringMatching(/^update template qdrant \(description, search_text\)$/),
      expect.stringMatching(/^0 created, 1 updated/),
    ]);
    const updates = await world.anonymous.get(`/api/v1/catalog/templates/updates?since=${before}`);
    expect(updates.body.templates).toEqual([expect.objectContaining({ slug: 'qdrant', description: 'Edited.' })]);
  });
});

describe('an import', () => {
  beforeEach(async () => {
    world = await startWorld();
  });
  afterEach(() => world.stop());

  test('reports the changes of a dry run and makes none', async () => {
    const folder = folderOf({ 'one.yaml': 'name: One\ncategory: tools\n' });
    const stamp = await clock();
    expect(await run(folder, true)).toEqual([
      'would create category tools',
      'would create template one',
      'dry run: 2 to create, 0 to update, 0 unchanged',
    ]);
    expect(await counts()).toEqual([0, 0, 0]);
    expect(await clock()).toBe(stamp);
  });

  test('writes all changes with the same stamp, in one transaction', async () => {
    await run(folderOf({ 'one.yaml': 'name: One\ncategory: tools\n', 'two.yaml': 'name: Two\ncategory: tools\n' }));
    const stamps = (await world.database.client.template.findMany()).map(({ updated_at }) => updated_at.getTime());
    expect(new Set(stamps)).toEqual(new Set([await clock()]));
  });

  test('keeps rows without a file', async () => {
    const kept = await world.aTemplate();
    await run(folderOf({}));
    expect(await world.database.client.template.findUnique({ where: { id: kept.id } })).toEqual(kept);
  });

  test('reports all errors of a folder, and writes nothing', async () => {
    const folder = folderOf({
      'bad-yaml.yaml': 'name: [\n',
      'no-category.yaml': 'name: x\n',
      'port.yaml': 'name: x\ncategory: tools\nports: [{ containerPort: 99999 }]\n',
      'unknown-member.yaml': 'name: x\ncategory: tools\ncolour: red\nimge_name: img\nports:\n  - { containrPort: 1 }\n',
      'ambiguous.yaml': 'name: x\ncategory: tools\nversion: 1_0\n',
      'good.yaml': 'name: Good\ncategory: tools\n',
    });
    const error = await run(folder).then(
      () => new Error('was imported'),
      (reason: Error) => reason,
    );
    for (const line of [
      'bad-yaml.yaml:2: cannot be read',
      'no-category.yaml:1: category: is required',
      'port.yaml:3: ports.0.containerPort',
      'unknown-member.yaml:3: colour: unknown member; allowed: ',
      'unknown-member.yaml:4: imge_name: unknown member; did you mean image_name?',
      'unknown-member.yaml:6: ports.0.containrPort: unknown member; did you mean containerPort?; allowed: containerPort',
      'ambiguous.yaml:3: 1_0 must be quoted',
    ]) {
      expect(error.message).toContain(line);
    }
    expect(await counts()).toEqual([0, 0, 0]);
  });

  test('applies every rule of the API to files, with file and line, and writes nothing', async () => {
    const folder = folderOf(
      {
        'My App.yaml': 'name: x\ncategory: tools\n',
        'updates.yaml': 'name: x\ncategory: tools\n',
        'surrogate.yaml': 'name: x\ncategory: tools\ndescription: "\\ud800"\n',
        'proto.yaml': 'name: x\ncategory: tools\n__proto__: { is_public: false }\n',
        'directive.yaml': '# comment\n%TAG ! tag:example.test,2026:\n---\nname: x\ncategory: tools\n',
      },
      '- { name: "!!!" }\n- { slug: tools, name: Tools }\n',
    );
    writeFileSync(
      path.join(folder, 'templates', 'latin1.yaml'),
      Buffer.from('name: Z\xfcrich\ncategory: tools\n', 'latin1'),
    );
    mkdirSync(path.join(folder, 'templates', 'folder.yaml'));
    const error = await run(folder).then(
      () => new Error('was imported'),
      (reason: Error) => reason,
    );
    for (const line of [
      'categories.yaml:1: slug: "", which the name gives, must',
      'My App.yaml:1: slug: "My App", which the name gives, must',
      'updates.yaml:1: slug: "updates", which the name gives, must',
      'surrogate.yaml:3: must not contain half of a surrogate pair',
      'proto.yaml:3: the name __proto__ must not be used',
      'directive.yaml:2: must not contain directives',
      'latin1.yaml: is not UTF-8',
      'folder.yaml: is not a file',
    ]) {
      expect(error.message).toContain(line);
    }
    expect(await counts()).toEqual([0, 0, 0]);
  });

  test('names entries that are no template files, which are an error with prune', async () => {
    const folder = folderOf({
      'a.yaml': 'name: A\ncategory: tools\n',
      'b.YAML': 'x',
      'c.yaml.j2': 'x',
      '.d.yaml': 'x',
    });
    mkdirSync(path.join(folder, 'templates', 'more'));
    const lines = (await run(folder, true)).filter((line) => line.includes('warning'));
    expect(lines.map((line) => path.basename(line.split(':')[0] ?? ''))).toEqual([
      '.d.yaml',
      'b.YAML',
      'c.yaml.j2',
      'more',
    ]);
    expect(lines[0]).toMatch(/\.d\.yaml: warning: is ignored; hidden files are no template files$/);
    await expect(prune(folder)).rejects.toThrow(
      /b\.YAML: is ignored; template files are templates\/<slug>\.yaml\. With --prune, .* rename or remove it/,
    );
    await expect(prune(folder)).rejects.toThrow(/\.d\.yaml: is ignored; hidden files are no template files\./);
    expect(await counts()).toEqual([0, 0, 0]);
  });

  test('states that templates must be a folder', async () => {
    const folder = aFolder();
    writeFileSync(path.join(folder, 'categories.yaml'), '[]\n');
    writeFileSync(path.join(folder, 'templates'), 'x');
    await expect(run(folder)).rejects.toThrow(/templates: must be a folder with template files/);
  });

  test('refuses a slug in a file that the API refuses, with its line', async () => {
    const folder = folderOf(
      { 'a.yaml': 'name: A\nslug: My App\ncategory: tools\n' },
      '- { slug: tools, name: Tools }\n- name: X\n  slug: updates\n',
    );
    await expect(run(folder)).rejects.toThrow(
      /categories\.yaml:3: slug: must not be a reserved word: updates\n.*a\.yaml:2: slug: must have/,
    );
    expect(await counts()).toEqual([0, 0, 0]);
  });

  test('imports values from before a rule with a warning', async () => {
    const folder = folderOf({ 'old.yaml': 'name: Old\ncategory: tools\nmemory_request: 500m\n' });
    const lines = await run(folder);
    expect(lines[0]).toMatch(/old\.yaml:3: warning: memory_request: must not have the unit m.*did you mean 500Mi\?$/);
    expect(lines.at(-1)).toMatch(/created/);
    expect(await world.database.client.template.findMany({ select: { memory_request: true } })).toEqual([
      { memory_request: '500m' },
    ]);
  });

  test('imports a template with a variable by which engines give devices, with a warning', async () => {
    const file = 'name: Monitor\ncategory: tools\nenv:\n  - { name: NVIDIA_VISIBLE_DEVICES, value: all }\n';
    const lines = await run(folderOf({ 'monitor.yaml': file }), true);
    expect(lines).toContain('would create template monitor');
    expect(lines.filter((line) => line.includes('warning:'))).toEqual([
      expect.stringMatching(/monitor\.yaml:4: warning: env\.0\.name: NVIDIA_VISIBLE_DEVICES must not be set/),
    ]);
  });

  test('rejects a template with an unknown category, and writes nothing', async () => {
    await expect(run(folderOf({ 'lost.yaml': 'name: Lost\ncategory: nowhere\n' }))).rejects.toThrow(
      /lost\.yaml:2: category: no category has the slug nowhere$/,
    );
    await expect(run(folderOf({ 'lost.yaml': 'name: Lost\ncategory: tolls\n' }))).rejects.toThrow(
      /no category has the slug tolls; did you mean tools\?/,
    );
    expect(await counts()).toEqual([0, 0, 0]);
  });

  test('reports a slug that two files have with both places', async () => {
    const folder = folderOf({
      'a.yaml': 'name: A\ncategory: tools\n',
      'b.yaml': 'name: B\ncategory: tools\nslug: a\n',
    });
    await expect(run(folder)).rejects.toThrow(/b\.yaml:3: the slug a is already used in .*a\.yaml:1/);
  });

  test('rejects a folder without a catalog, and states the expected files', async () => {
    await expect(run(path.join(tmpdir(), 'unknown-folder'))).rejects.toThrow(/contains categories\.yaml, templates/);
  });

  describe('with prune', () => {
    const FILES = { 'one.yaml': 'name: One\ncategory: tools\n', 'two.yaml': 'name: Two\ncategory: tools\n' };
    const aRest = async () => {
      await run(folderOf(FILES, '- { slug: tools, name: Tools }\n- { slug: old, name: Old }\n'));
      return folderOf({ 'one.yaml': 'name: One\ncategory: tools\n' });
    };

    test('deletes the templates and categories without a file, and tells clients', async () => {
      const folder = await aRest();
      const start = (await world.anonymous.get('/api/v1/catalog/templates/updates?cursor=start')).body;
      expect(await prune(folder)).toEqual([
        'delete template two',
        'delete category old',
        '0 created, 0 updated, 2 deleted, 2 unchanged',
      ]);
      expect(await counts()).toEqual([1, 1, 0]);
      const { body } = await world.anonymous.get(`/api/v1/catalog/templates/updates?cursor=${start.cursor}`);
      expect(body.removed).toHaveLength(1);
      expect(await prune(folder, { isConfirmed: false })).toEqual(['0 created, 0 updated, 2 unchanged']);
    });

    test('changes nothing if a template is in a category that would be deleted', async () => {
      await aRest();
      const folder = folderOf({ 'one.yaml': 'name: One\ncategory: old\n' });
      const stamp = await clock();
      await expect(prune(folder)).rejects.toThrow(
        /one\.yaml:2: category: categories\.yaml does not describe the category old, so that it would be deleted$/,
      );
      expect(await clock()).toBe(stamp);
    });

    test('prints the deletions of a dry run and makes none', async () => {
      expect(await prune(await aRest(), { dryRun: true, isConfirmed: false, max: 0 })).toEqual([
        'would delete template two',
        'would delete category old',
        'dry run: 0 to create, 0 to update, 2 to delete, 2 unchanged',
      ]);
      expect(await counts()).toEqual([2, 2, 0]);
    });

    test.each([
      [
        'without a confirmation',
        { isConfirmed: false },
        /would delete template two\n[\s\S]*repeat the command with --yes/,
      ],
      ['beyond the bound', { max: 1 }, /would delete 2 objects, but at most 1 are allowed\..*--max-deletions/],
    ])('changes nothing %s, and prints the plan', async (_, given, message) => {
      const folder = await aRest();
      const stamp = await clock();
      await expect(prune(folder, given)).rejects.toThrow(message);
      expect(await counts()).toEqual([2, 2, 0]);
      expect(await clock()).toBe(stamp);
    });
  });
});

import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { templateExamples, templateFieldNames } from '@svc/contract';
import { formatYaml } from '@svc/documents';
import { startWorld } from '../world.ts';

const world = await startWorld();
const admin = await world.aUser('admin');
const organization = await world.anOrganization({ slug: 'acme' });
const category = await world.aCategory({ slug: 'databases' });
afterAll(() => world.stop());

const FILE = '/api/v1/admin/templates/file';
const read = (yaml: string) => admin.post(FILE, { yaml });

test('a file that states each member gives the body of the same template, and stores nothing', async () => {
  const content = formatYaml({
    ...templateExamples,
    name: 'Server',
    slug: 'server',
    category: 'databases',
    owner: 'acme',
  });
  const { status, body } = await read(content);
  expect(status).toBe(200);
  expect(body.warnings).toEqual([]);
  expect(body.template).toEqual({
    ...templateExamples,
    name: 'Server',
    slug: 'server',
    category_id: category.id,
    owner_org_id: organization.id,
    status: 'active',
    status_message: '',
    replacement: null,
  });
  expect(await world.database.client.template.count()).toBe(0);
  const created = await admin.post('/api/v1/admin/templates', body.template);
  expect(created.status).toBe(201);
  const stored = created.body.template;
  expect(templateFieldNames.filter((name) => !isDeepStrictEqual(stored[name], templateExamples[name]))).toEqual([]);
});

test('a file of the starter catalog is read, and a category that the hub does not have is a warning', async () => {
  const content = readFileSync(new URL('../../../../infra/catalog/templates/qdrant.yaml', import.meta.url), 'utf8');
  const { status, body } = await read(content.replace(/^category: .*$/m, 'category: database'));
  expect(status).toBe(200);
  expect(body.template).toMatchObject({ name: 'Qdrant', category_id: null, owner_org_id: null });
  expect(body.warnings).toEqual([
    { path: 'category', message: 'no category has the slug database; did you mean databases?' },
  ]);
});

test('a file can have the longest documentation, and lists of the maximum length', async () => {
  const documentation = '- a: [{ b: c }]\n'.repeat(30_000);
  const env_schema = Array.from({ length: 256 }, (_, index) => ({
    name: `V${index}`,
    required: true,
    description: 'x',
  }));
  const yaml = formatYaml({
    name: 'Large',
    category: 'databases',
    documentation,
    env_schema,
    env: env_schema.map(({ name }) => ({ name: `${name}_`, value: 'x' })),
  });
  const { status, body } = await read(yaml);
  expect(status).toBe(200);
  expect(body.template.documentation).toBe(documentation);
  expect(body.template.env_schema).toHaveLength(256);
});

test.each([
  ['what is no YAML', 'name: [', /^line 1: /],
  ['a member that is not valid', 'name: A\ncategory: databases\ngpu_count: -1\n', /^line 3: gpu_count: /],
  ['an unknown member', 'name: A\ncategory: databases\nimage: x\n', /^line 3: image: /],
  ['a missing category', 'name: A\n', /category: is required: the slug of a category/],
  ['a value that parsers read differently', 'name: no\ncategory: databases\n', /must be quoted/],
  ['an alias', 'name: &a A\ncategory: *a\n', /anchors and aliases must not be used/],
  ['a list', '- a\n', /^line 1: the file: /],
  ['a text that is nested deeply', '['.repeat(100_000), /^must not have so many values/],
  ['a text with many nested entries in a line', `a: ${'- '.repeat(1000)}b`, /^must not have so many values/],
  ['a text with very many escapes', `a: "${'\\x'.repeat(100_000)}"`, /^must not have so many values/],
  ['a text with very many values', `a:\n${'- { b: c }\n'.repeat(40_000)}`, /^must not have so many values/],
])('%s is refused with its line', async (_, content, message) => {
  const { status, body } = await read(content);
  expect(status).toBe(400);
  for (const { path } of body.errors) expect(path).toBe('yaml');
  expect(body.errors[0].message).toMatch(message);
});

import { startWorld } from '../world.ts';

const world = await startWorld();
const admin = await world.aUser('admin');
afterAll(() => world.stop());

const EXPORT = '/api/v1/publish/export';
const IMPORT = '/api/v1/publish/import';

const organization = await world.anOrganization({ slug: 'acme' });
const own = await world.aCategory({ slug: 'own', name: 'Own: "yes"', description: '#\n', is_private: true });
const foreign = await world.aCategory({ slug: 'foreign', name: 'Foreign' });
await world.aTemplate({
  slug: 'one',
  name: '0123',
  version: '1.10',
  category_id: own.id,
  owner_org_id: organization.id,
  is_public: false,
  tags: ['null', '~'],
  documentation: '  leading\n\n\ttab and trailing  \n\n',
});
await world.aTemplate({ slug: 'two', category_id: foreign.id });
const token = await world.aServiceToken(admin, { categories: ['own'], scopes: ['export', 'import', 'prune'] });

interface Files {
  readonly files: readonly { readonly path: string; readonly content: string }[];
}
const pathsOf = ({ files }: Files) => files.map(({ path }) => path);
const contentOf = ({ files }: Files, path: string) => files.find((file) => file.path === path)?.content;

test('an administrator receives the whole catalog, and importing it changes nothing', async () => {
  const { status, body, headers } = await admin.get(EXPORT);
  expect(status).toBe(200);
  expect(pathsOf(body)).toEqual(['categories.yaml', 'templates/one.yaml', 'templates/two.yaml']);
  expect(contentOf(body, 'templates/one.yaml')).toMatch(/^owner: acme$/m);
  expect((await admin.get(EXPORT, { 'If-None-Match': headers.etag ?? '' })).status).toBe(304);
  const { body: plan } = await admin.post(`${IMPORT}?plan=true&prune=true`, body);
  expect(plan).toMatchObject({ changes: [], unchanged: 4, warnings: [] });
});

test('a service token receives only its categories and their templates, without owners, and importing them changes nothing', async () => {
  const { status, body, text } = await token.get(EXPORT);
  expect(status).toBe(200);
  expect(pathsOf(body)).toEqual(['categories.yaml', 'templates/one.yaml']);
  expect(text).not.toMatch(/acme|foreign|Foreign|two/);
  const { body: reply } = await token.post(`${IMPORT}?prune=true`, body);
  expect(reply).toMatchObject({ changes: [], unchanged: 2 });
});

test('a service token receives no template that left its categories, and none of a category that was deleted', async () => {
  const { client } = world.database;
  const { id } = await client.template.findUniqueOrThrow({ where: { slug: 'one' } });
  await admin.put('/api/v1/admin/templates', { id, category_id: foreign.id });
  expect(pathsOf((await token.get(EXPORT)).body)).toEqual(['categories.yaml']);
  await admin.delete('/api/v1/admin/categories', { id: own.id });
  const { body } = await token.get(EXPORT);
  expect(body).toEqual({
    files: [{ path: 'categories.yaml', content: '[]\n' }],
    signatures: {},
    application_signatures: {},
  });
});

test('a service token without the scope export reads nothing', async () => {
  const importing = await world.aServiceToken(admin, { categories: ['foreign'], scopes: ['import', 'prune'] });
  expect(await importing.get(EXPORT)).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } });
});

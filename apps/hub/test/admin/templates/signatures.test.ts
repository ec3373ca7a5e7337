import { writeCatalog } from '../../../src/database/catalog-write.ts';
import { aSigner, signatureOf } from '../../signers.ts';
import { startWorld } from '../../world.ts';

const world = await startWorld();
const admin = await world.aUser('admin');
const signer = await aSigner();
const category = await world.aCategory({ slug: 'signed' });
afterAll(() => world.stop());

const PATH = '/api/v1/admin/templates';
let count = 0;

/** A template with a signature of its content. */
async function aSignedTemplate() {
  const content = { name: `Signed ${++count}`, slug: `signed-${count}`, image_name: 'acme/server', image_tag: '1' };
  const signature = await signatureOf(content, signer);
  const { status, body } = await admin.post(PATH, { ...content, category_id: category.id, signatures: [signature] });
  expect(status).toBe(201);
  return { content, signature, id: String(body.template.id), revision: body.template.revision };
}

const shown = async (slug: string) => (await world.anonymous.get(`/api/v1/catalog/templates/${slug}`)).body;

test('everyone who sees a template receives its signatures, except in summaries', async () => {
  const start = (await world.anonymous.get('/api/v1/catalog/templates/updates?since=1970-01-01T00:00:00Z')).body;
  const { content, signature, id } = await aSignedTemplate();
  const lists = await Promise.all(
    ['full', 'summary'].map(async (view) => {
      const reply = await world.anonymous.get(`/api/v1/catalog/templates?limit=100&view=${view}`);
      return reply.body.templates.find((template: { id: string }) => template.id === id).signatures;
    }),
  );
  expect(lists).toEqual([[signature], []]);
  const managed = await admin.get(`${PATH}?limit=100&page=1&view=summary`);
  expect(managed.body.templates.find((template: { id: string }) => template.id === id).signatures).toEqual([]);
  const updates = await world.anonymous.get(`/api/v1/catalog/templates/updates?since=${start.checked_at}`);
  expect(updates.body.templates).toMatchObject([{ id, signatures: [signature] }]);
  expect((await shown(content.slug)).signatures).toEqual([signature]);
});

test('a change of a signed member is refused, and names what was signed', async () => {
  const { content, signature, id } = await aSignedTemplate();
  const refused = await admin.put(PATH, { id, image_tag: '2', description: 'Another one', tags: ['x'] });
  expect([refused.status, refused.body.code]).toEqual([409, 'breaks_signature']);
  expect(refused.body.errors.map(({ path }: { path: string }) => path)).toEqual(['description', 'image_tag']);
  expect(await shown(content.slug)).toMatchObject({ image_tag: '1', tags: [], signatures: [signature] });
});

test('a change of what belongs to the hub keeps the signatures, and so does a signed member with its value', async () => {
  const { signature, id } = await aSignedTemplate();
  const changed = await admin.put(PATH, { id, tags: ['x'], is_featured: true, image_tag: '1', status: 'deprecated' });
  expect(changed.body.template).toMatchObject({ tags: ['x'], status: 'deprecated', signatures: [signature] });
});

test('a change with new signatures is accepted, and an empty list removes them', async () => {
  const { content, id } = await aSignedTemplate();
  const next = await signatureOf({ ...content, image_tag: '2' }, signer, 2);
  const changed = await admin.put(PATH, { id, image_tag: '2', signatures: [next] });
  expect(changed.body.template).toMatchObject({ image_tag: '2', signatures: [next] });
  const removed = await admin.put(PATH, { id, image_tag: '3', signatures: [] });
  expect(removed.body.template).toMatchObject({ image_tag: '3', signatures: [] });
  expect((await admin.put(PATH, { id, image_tag: '4' })).status).toBe(200);
});

test('a template that is signed again has a new version, and no new revision', async () => {
  const { content, id, revision } = await aSignedTemplate();
  const next = await signatureOf(content, signer, 2);
  const { body } = await admin.put(PATH, { id, signatures: [next] });
  expect(body.template).toMatchObject({ revision, resource_version: 2, signatures: [next] });
});

test.each([
  ['about other content', 'must be about this content; it differs in image_tag', { image_tag: '9' }],
  ['about another template', 'must be about this template, and not about other', { slug: 'other' }],
])('a signature %s is refused, in a new and in a changed template', async (_name, message, changes) => {
  const { content, signature, id } = await aSignedTemplate();
  const wrong = await signatureOf({ ...content, ...changes }, signer);
  const isSlug = 'slug' in changes;
  const refused = await admin.put(PATH, { id, signatures: [signature, wrong] });
  expect([refused.status, refused.body.code]).toEqual([422, 'signature_invalid']);
  expect(refused.body.errors).toEqual([
    { path: 'signatures.1', message: isSlug ? expect.stringContaining('slug') : message },
  ]);
  const created = { ...content, slug: `${content.slug}-copy`, category_id: category.id, signatures: [wrong] };
  expect((await admin.post(PATH, created)).status).toBe(422);
});

test('text that is no signature, and more than eight signatures, are refused', async () => {
  const { content, signature, id } = await aSignedTemplate();
  const statuses = [];
  for (const signatures of [['x'], ['a.b.c'], Array(9).fill(signature), ['a'.repeat(17_000)]]) {
    statuses.push((await admin.put(PATH, { id, signatures })).status);
  }
  expect(statuses).toEqual([400, 422, 400, 400]);
  expect((await shown(content.slug)).signatures).toEqual([signature]);
});

test('an earlier revision of a signed template is restored only without its signatures', async () => {
  const { content, id, revision } = await aSignedTemplate();
  const next = await signatureOf({ ...content, image_tag: '2' }, signer, 2);
  await admin.put(PATH, { id, image_tag: '2', signatures: [next] });
  const refused = await admin.post(`${PATH}/${id}/restore`, { revision });
  expect([refused.status, refused.body.code]).toEqual([409, 'breaks_signature']);
  await admin.put(PATH, { id, signatures: [] });
  expect((await admin.post(`${PATH}/${id}/restore`, { revision })).body.template).toMatchObject({ image_tag: '1' });
});

test('an earlier version of the hub, which does not know signatures, writes the template as before', async () => {
  const { content, signature, id } = await aSignedTemplate();
  await writeCatalog(world.database, ({ template }) => template.update({ where: { id }, data: { image_tag: '2' } }));
  expect(await shown(content.slug)).toMatchObject({ image_tag: '2', signatures: [signature] });
});

test('a service token publishes signatures with its files, and an export contains them', async () => {
  const token = await world.aServiceToken(admin, { categories: [category.id] });
  const { content, id } = await aSignedTemplate();
  const send = (tag: string, signatures?: object) =>
    token.post('/api/v1/publish/import', {
      files: [
        { path: 'categories.yaml', content: '[]\n' },
        {
          path: `templates/${content.slug}.yaml`,
          content: `name: ${content.name}\ncategory: signed\nimage_name: acme/server\nimage_tag: "${tag}"\n`,
        },
      ],
      ...(signatures && { signatures }),
    });
  expect((await send('2')).body.detail).toContain('its publisher has signed image_tag; sign the files again');
  const next = await signatureOf({ ...content, image_tag: '2' }, signer, 2);
  expect((await send('3', { [content.slug]: [next] })).body.detail).toContain('it differs in image_tag');
  const imported = await send('2', { [content.slug]: [next] });
  expect(imported.body.changes).toMatchObject([{ slug: content.slug, members: ['image_tag', 'signatures'] }]);
  expect((await send('2')).body).toMatchObject({ updated: 0 });
  expect((await admin.get(`${PATH}/${id}`)).body.template.signatures).toEqual([next]);
  const exported = await token.get('/api/v1/publish/export');
  expect(exported.body.signatures[content.slug]).toEqual([next]);
});

import { templateExamples } from '@svc/contract';
import { writeCatalog } from '../../../src/database/catalog-write.ts';
import { startWorld } from '../../world.ts';

const world = await startWorld();
const { client } = world.database;
const admin = await world.aUser('admin');
afterAll(() => world.stop());

const PATH = '/api/v1/admin/templates';
const ABSENT = '00000000-0000-4000-8000-000000000000';

const restore = (id: string, body: object, headers: Record<string, string> = {}) =>
  admin.send({ method: 'POST', path: `${PATH}/${id}/restore`, body, headers });
const remove = (id: string) => admin.delete(`${PATH}?id=${id}`);

test('a template has every member of the restored revision again, and a new revision', async () => {
  const owner = await world.anOrganization();
  const { id: category_id } = await world.aCategory();
  const given = { name: 'Full', slug: 'full', category_id, ...templateExamples, owner_org_id: owner.id };
  const { id } = (await admin.post(PATH, given)).body.template;
  const other = { name: 'Other', slug: 'other', tags: ['x'], env: [], icon_url: null, owner_org_id: null };
  expect((await admin.put(PATH, { id, ...other })).status).toBe(200);
  const { status, body } = await restore(id, { revision: 1 });
  expect(status).toBe(200);
  expect(body.template).toMatchObject({ ...given, id, revision: 3 });
  const found = await world.as(owner).get('/api/v1/catalog/templates?search=full&tags=one');
  expect(found.body.templates).toMatchObject([{ id }]);
  expect(await client.templateIcon.count({ where: { template_id: id } })).toBe(1);
});

test('a deleted template returns with its id, its open advisories and the numbers of its history', async () => {
  const { id, slug, created_at } = await world.aTemplate({ description: 'one', icon_url: 'https://example.com/i.png' });
  await admin.put(PATH, { id, status: 'blocked', status_message: 'Broken' });
  const advisory = { severity: 'critical', message: 'x', url: null, first_revision: 1, last_revision: null };
  await admin.post(`${PATH}/${id}/advisories`, advisory);
  const withdrawn = await admin.post(`${PATH}/${id}/advisories`, advisory);
  await admin.delete(`${PATH}/${id}/advisories/${withdrawn.body.advisory.id}`);
  await remove(id);
  const { body } = await restore(id, { revision: 1 });
  expect(body.template).toMatchObject({
    id,
    slug,
    description: 'one',
    status: 'active',
    status_message: '',
    resource_version: 7,
    revision: 7,
    advisories: [advisory],
  });
  expect(Date.parse(body.template.created_at)).toBeGreaterThan(created_at.getTime());
  const row = await client.template.findUniqueOrThrow({ where: { id } });
  expect(row.weight).toBeGreaterThan(JSON.stringify(row.advisories).length);
  expect(await client.templateIcon.count({ where: { template_id: id } })).toBe(1);
  expect((await world.anonymous.get(`/api/v1/catalog/templates/${slug}`)).body.advisories).toHaveLength(1);
});

test('a slug and a category that no longer exist are replaced by those of the request', async () => {
  const { id, slug, category_id } = await world.aTemplate();
  await remove(id);
  const { id: other } = await world.aTemplate({ slug });
  await writeCatalog(world.database, ({ category }) => category.delete({ where: { id: category_id } }));
  expect(await restore(id, { revision: 1, category_id: (await world.aCategory()).id })).toMatchObject({
    status: 409,
    body: { code: 'slug_taken' },
  });
  expect(await restore(id, { revision: 1, slug: 'free' })).toMatchObject({
    status: 422,
    body: { code: 'unknown_category' },
  });
  const { id: elsewhere } = await world.aCategory();
  const { status, body } = await restore(id, { revision: 1, slug: 'free', category_id: elsewhere });
  expect(status).toBe(200);
  expect(body.template).toMatchObject({ id, slug: 'free', category_id: elsewhere });
  expect(other).not.toBe(id);
});

test('an owner that no longer exists is replaced by that of the request', async () => {
  const owner = await world.anOrganization();
  const { id } = await world.aTemplate({ owner_org_id: owner.id });
  await remove(id);
  await client.apiKey.deleteMany({ where: { org_id: owner.id } });
  await client.subscription.deleteMany({ where: { org_id: owner.id } });
  await client.organization.delete({ where: { id: owner.id } });
  expect(await restore(id, { revision: 1 })).toMatchObject({ status: 422, body: { code: 'unknown_organization' } });
  expect((await restore(id, { revision: 1, owner_org_id: null })).body.template).toMatchObject({ owner_org_id: null });
});

test('rejects a deletion, the newest revision and an unknown one', async () => {
  const { id } = await world.aTemplate();
  expect((await restore(id, { revision: 1 })).body.errors).toMatchObject([{ path: 'revision' }]);
  expect((await restore(id, { revision: 5 })).status).toBe(404);
  expect((await restore(ABSENT, { revision: 1 })).status).toBe(404);
  await remove(id);
  expect((await restore(id, { revision: 2 })).body.errors).toMatchObject([
    { path: 'revision', message: 'must not be a deletion, which has no content' },
  ]);
});

test('content that a rule of today rejects is named, and can be replaced if it is the slug', async () => {
  const { id } = await world.aTemplate({ slug: 'Old_Slug', memory_request: '500m' });
  await admin.put(PATH, { id, slug: 'new-slug', memory_request: '' });
  const { status, body } = await restore(id, { revision: 1 });
  expect(status).toBe(400);
  expect(body.errors.map(({ path }: { path: string }) => path).sort()).toEqual([
    'revision.memory_request',
    'revision.slug',
  ]);
  const { errors } = (await restore(id, { revision: 1, slug: 'new-slug' })).body;
  expect(errors).toMatchObject([{ path: 'revision.memory_request' }]);
});

test('restores only the version that If-Match names, also after a deletion', async () => {
  const { id } = await world.aTemplate();
  await admin.put(PATH, { id, description: 'x' });
  expect((await restore(id, { revision: 1 }, { 'If-Match': '"1"' })).status).toBe(412);
  expect((await restore(id, { revision: 1 }, { 'If-Match': '"2"' })).status).toBe(200);
  await remove(id);
  expect((await restore(id, { revision: 1 }, { 'If-Match': '"3"' })).status).toBe(412);
  const answers = await Promise.all([1, 2].map(() => restore(id, { revision: 1 }, { 'If-Match': '"4"' })));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 412]);
});

test('lists deleted templates with what is needed to restore them, the last deleted first', async () => {
  const [one, two] = [await world.aTemplate({ name: 'One' }), await world.aTemplate({ name: 'Two' })];
  for (const { id } of [one, two]) {
    await admin.put(PATH, { id, description: 'x' });
    await admin.delete(`${PATH}?id=${id}`, { message: `retired ${id}` });
  }
  const list = async (query = '') => (await admin.get(`/api/v1/admin/deleted-templates${query}`)).body;
  const { templates } = await list();
  expect(templates.slice(0, 2)).toMatchObject(
    [two, one].map(({ id, slug, name, category_id }) => ({
      id,
      slug,
      name,
      category_id,
      last_revision: 2,
      revision: 3,
      message: `retired ${id}`,
    })),
  );
  await restore(two.id, { revision: templates[0].last_revision });
  expect((await list('?limit=1')).templates).toMatchObject([{ id: one.id }]);
  await remove(two.id);
  expect((await list('?limit=1')).templates).toMatchObject([{ id: two.id, revision: 5, last_revision: 4 }]);
});

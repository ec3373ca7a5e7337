import { byDepth } from '@svc/testing';
import { startWorld } from '../world.ts';

const world = await startWorld();
const admin = await world.aUser('admin');
const { client } = world.database;
afterAll(() => world.stop());

const TEMPLATES = '/api/v1/admin/templates';
const CATEGORIES = '/api/v1/admin/categories';
const ROUNDS = byDepth({ short: 30, full: 200, long: 2000 });
const ABSENT = '00000000-0000-4000-8000-000000000000';

test('removes a deleted template from the next request on, with its download count', async () => {
  const { id, slug } = await world.aTemplate();
  await world.as(await world.anOrganization()).get(`/api/v1/catalog/templates/${slug}`);
  expect((await admin.delete(TEMPLATES, { id })).status).toBe(204);
  expect((await world.anonymous.get(`/api/v1/catalog/templates/${slug}`)).status).toBe(404);
  expect(await client.templateDownload.count({ where: { template_id: id } })).toBe(0);
  expect((await admin.delete(`${TEMPLATES}?id=${id}`)).status).toBe(404);
});

test('rejects the deletion of a category with templates, and states their number', async () => {
  const { id } = await world.aCategory();
  await world.aTemplate({ category_id: id });
  await world.aTemplate({ category_id: id });
  const { body } = await admin.delete(CATEGORIES, { id });
  expect(body).toMatchObject({ code: 'category_in_use', detail: expect.stringContaining('2 templates') });
  expect(await client.category.count({ where: { id } })).toBe(1);
});

test('deletes an empty category with its grants', async () => {
  const category = await world.aCategory({ is_private: true });
  await world.aGrant(await world.anOrganization(), category);
  expect((await admin.delete(CATEGORIES, { id: category.id })).status).toBe(204);
  expect(await client.catalogAccess.count({ where: { category_id: category.id } })).toBe(0);
  expect((await admin.delete(CATEGORIES, { id: category.id })).status).toBe(404);
});

test('rejects a malformed id of a template or category, and answers 404 for an unknown id', async () => {
  for (const path of [TEMPLATES, CATEGORIES]) {
    expect((await admin.delete(path, { id: 'x' })).body.errors[0].path).toBe('id');
    expect((await admin.delete(`${path}?id=x`)).body.errors[0].path).toBe('id');
    expect((await admin.delete(path, { id: ABSENT })).status).toBe(404);
  }
});

test(
  'leaves no orphan if a category is deleted while its first template is created',
  async () => {
    const outcomes = new Set<string>();
    for (let round = 0; round < ROUNDS; round++) {
      const { id } = await world.aCategory();
      const [deleted, created] = await Promise.all([
        admin.delete(CATEGORIES, { id }),
        admin.post(TEMPLATES, { name: `raced ${round}`, category_id: id }),
      ]);
      outcomes.add(`${deleted.status} ${created.status}`);
      const remaining = await client.template.count({ where: { category_id: id } });
      expect(await client.category.count({ where: { id } })).toBe(remaining);
    }
    expect([...outcomes].every((outcome) => ['204 422', '409 201'].includes(outcome))).toBe(true);
  },
  30_000 + ROUNDS * 300,
);

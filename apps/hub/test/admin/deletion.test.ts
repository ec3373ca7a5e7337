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

test('a deleted template is gone at the next request, with its downloads', async () => {
  const { id, slug } = await world.aTemplate();
  await world.as(await world.anOrganization()).get(`/api/v1/catalog/templates/${slug}`);
  expect((await admin.delete(TEMPLATES, { id })).status).toBe(204);
  expect((await world.nobody.get(`/api/v1/catalog/templates/${slug}`)).status).toBe(404);
  expect(await client.templateDownload.count({ where: { template_id: id } })).toBe(0);
  expect((await admin.delete(`${TEMPLATES}?id=${id}`)).status).toBe(404);
});

test('a category that templates refer to is not deleted, and says how many they are', async () => {
  const { id } = await world.aCategory();
  await world.aTemplate({ category_id: id });
  await world.aTemplate({ category_id: id });
  const { body } = await admin.delete(CATEGORIES, { id });
  expect(body).toMatchObject({ code: 'category_in_use', detail: expect.stringContaining('2 templates') });
  expect(await client.category.count({ where: { id } })).toBe(1);
});

test('an empty category is deleted with its grants', async () => {
  const category = await world.aCategory({ is_private: true });
  await world.aGrant(await world.anOrganization(), category);
  expect((await admin.delete(CATEGORIES, { id: category.id })).status).toBe(204);
  expect(await client.catalogAccess.count({ where: { category_id: category.id } })).toBe(0);
  expect((await admin.delete(CATEGORIES, { id: category.id })).status).toBe(404);
});

test('a malformed id is refused, and an absent one is a 404', async () => {
  for (const path of [TEMPLATES, CATEGORIES]) {
    expect((await admin.delete(path, { id: 'x' })).body.errors[0].path).toBe('id');
    expect((await admin.delete(`${path}?id=x`)).body.errors[0].path).toBe('id');
    expect((await admin.delete(path, { id: ABSENT })).status).toBe(404);
  }
});

test(
  'a category and its first template, deleted and created concurrently, leave no orphan and no 500',
  async () => {
    const seen = new Set<string>();
    for (let round = 0; round < ROUNDS; round++) {
      const { id } = await world.aCategory();
      const [deleted, created] = await Promise.all([
        admin.delete(CATEGORIES, { id }),
        admin.post(TEMPLATES, { name: `raced ${round}`, category_id: id }),
      ]);
      seen.add(`${deleted.status} ${created.status}`);
      const left = await client.template.count({ where: { category_id: id } });
      expect(await client.category.count({ where: { id } })).toBe(left);
    }
    expect([...seen].every((outcome) => ['204 422', '409 201'].includes(outcome))).toBe(true);
  },
  30_000 + ROUNDS * 300,
);

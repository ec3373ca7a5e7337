import { startWorld } from '../world.ts';

const world = await startWorld();
const admin = await world.aUser('admin');
afterAll(() => world.stop());

const PATH = '/api/v1/admin/categories';

test('creates a category from a name, with defaults for the other members', async () => {
  const { status, body } = await admin.post(PATH, { name: 'Vector Stores' });
  expect(status).toBe(201);
  expect(body.category).toMatchObject({
    slug: 'vector-stores',
    description: '',
    icon: '',
    sort_order: 0,
    is_private: false,
    template_count: 0,
    access_count: 0,
  });
});

test('lists private categories with the counts of their templates and grants', async () => {
  const category = await world.aCategory({ is_private: true });
  await world.aTemplate({ category_id: category.id, is_public: false });
  await world.aGrant(await world.anOrganization(), category);
  const { body } = await admin.get(PATH);
  const row = body.categories.find(({ id }: { id: string }) => id === category.id);
  expect(row).toMatchObject({ is_private: true, template_count: 1, access_count: 1 });
  expect(body.pagination.total).toBe(body.categories.length);
});

test('changes only the given members of a category, and ignores read-only members', async () => {
  const { id } = await world.aCategory({ description: 'old', sort_order: 3 });
  const { body } = await admin.put(PATH, { id, name: 'Renamed', template_count: 7 });
  expect(body.category).toMatchObject({ name: 'Renamed', description: 'old', sort_order: 3, template_count: 0 });
});

test('answers 409 for the slug of another category', async () => {
  const { slug } = await world.aCategory();
  const other = await world.aCategory();
  const taken = { status: 409, body: { code: 'slug_taken' } };
  expect(await admin.post(PATH, { name: 'x', slug })).toMatchObject(taken);
  expect(await admin.put(PATH, { id: other.id, slug })).toMatchObject(taken);
});

test.each([
  [{}, 'name'],
  [{ name: '???' }, 'slug'],
  [{ name: 'x', sort_order: 'first' }, 'sort_order'],
  [{ name: 'x', is_private: null }, 'is_private'],
  [{ name: 'x', owner: 'me' }, 'owner'],
])('rejects %j with an error for the member %s', async (body, path) => {
  const answer = await admin.post(PATH, body);
  expect(answer.status).toBe(400);
  expect(answer.body.errors[0].path).toBe(path);
});

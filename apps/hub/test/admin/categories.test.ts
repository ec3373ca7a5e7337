import { startWorld } from '../world.ts';

const world = await startWorld();
const admin = await world.aUser('admin');
afterAll(() => world.stop());

const PATH = '/api/v1/admin/categories';

test('only a name is needed', async () => {
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

test('the list has private categories too, with their templates and grants counted', async () => {
  const category = await world.aCategory({ is_private: true });
  await world.aTemplate({ category_id: category.id, is_public: false });
  await world.aGrant(await world.anOrganization(), category);
  const { body } = await admin.get(PATH);
  const row = body.categories.find(({ id }: { id: string }) => id === category.id);
  expect(row).toMatchObject({ is_private: true, template_count: 1, access_count: 1 });
  expect(body.pagination.total).toBe(body.categories.length);
});

test('a change touches only what it names, and a read-only member is ignored', async () => {
  const { id } = await world.aCategory({ description: 'old', sort_order: 3 });
  const { body } = await admin.put(PATH, { id, name: 'Renamed', template_count: 7 });
  expect(body.category).toMatchObject({ name: 'Renamed', description: 'old', sort_order: 3, template_count: 0 });
});

test('a slug that is taken is a 409', async () => {
  const { slug } = await world.aCategory();
  const other = await world.aCategory();
  expect((await admin.post(PATH, { name: 'x', slug })).body.code).toBe('slug_taken');
  expect((await admin.put(PATH, { id: other.id, slug })).body.code).toBe('slug_taken');
});

test.each([
  [{}, 'name'],
  [{ name: '???' }, 'slug'],
  [{ name: 'x', sort_order: 'first' }, 'sort_order'],
  [{ name: 'x', is_private: null }, 'is_private'],
  [{ name: 'x', owner: 'me' }, 'owner'],
])('%j is refused by name', async (body, path) => {
  const answer = await admin.post(PATH, body);
  expect(answer.status).toBe(400);
  expect(answer.body.errors[0].path).toBe(path);
});

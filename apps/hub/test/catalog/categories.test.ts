import { startWorld } from '../world.ts';

const world = await startWorld();
afterAll(() => world.stop());

test('sorts categories by sort_order, and then by folded name', async () => {
  await world.aCategory({ slug: 'z', name: 'zebra', sort_order: 1 });
  await world.aCategory({ slug: 'b', name: 'Beta', sort_order: 2 });
  await world.aCategory({ slug: 'a', name: 'alpha', sort_order: 2 });
  const { body } = await world.anonymous.get('/api/v1/catalog/categories');
  expect(body.categories.map(({ slug }: { slug: string }) => slug)).toEqual(['z', 'a', 'b']);
});

test('hides a category that becomes private at the next request', async () => {
  const admin = await world.aUser('admin');
  const { id, slug } = await world.aCategory();
  const isListed = async () => {
    const { body } = await world.anonymous.get('/api/v1/catalog/categories');
    return body.categories.some((category: { slug: string }) => category.slug === slug);
  };
  expect(await isListed()).toBe(true);
  await admin.put('/api/v1/admin/categories', { id, is_private: true });
  expect(await isListed()).toBe(false);
});

import { backUp } from '@svc/testing';
import { anInstance, startWorld } from '../../world.ts';

const TEMPLATES = '/api/v1/catalog/templates';
const world = await startWorld();
afterAll(() => world.stop());

test('a replica that runs while the database is restored serves the restored catalog, and to each caller its own', async () => {
  const admin = await world.aUser('admin');
  const category = await world.aCategory();
  const kept = await world.aTemplate({ category_id: category.id, description: 'before' });
  await world.aTemplate({ category_id: category.id, is_public: false });
  const replica = anInstance(world.databaseUrl, world.issuer);
  const administrator = replica.api(await world.anAuthorization('admin'));
  const backup = await backUp(world.databaseUrl);
  try {
    const change = (description: string) => admin.put('/api/v1/admin/templates', { id: kept.id, description });
    expect((await change('lost')).status).toBe(200);
    await world.aTemplate({ category_id: category.id });
    const totals = async () =>
      Promise.all(
        [administrator, replica.api()].map(async (api) => {
          const { body } = await api.get(`${TEMPLATES}?category=${category.slug}`);
          return body.pagination.total;
        }),
      );
    const shown = async () => (await replica.api().get(`${TEMPLATES}/${kept.slug}`)).body.description;
    expect(await shown()).toBe('lost');
    expect(await totals()).toEqual([3, 2]);
    await backup.restore();
    // Connections were closed.
    for (const api of [administrator, replica.api()]) await api.get(TEMPLATES);
    expect(await shown()).toBe('before');
    expect(await totals()).toEqual([2, 1]);
    expect((await change('after')).status).toBe(200);
    expect(await shown()).toBe('after');
  } finally {
    await replica.stop();
    await backup.drop();
  }
});

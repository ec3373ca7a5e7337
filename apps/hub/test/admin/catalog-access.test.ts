import { startWorld } from '../world.ts';

const world = await startWorld();
const admin = await world.aUser('admin');
afterAll(() => world.stop());

const PATH = '/api/v1/admin/catalog-access';
const ABSENT = '00000000-0000-4000-8000-000000000000';

async function aPrivateCategory() {
  const organization = await world.anOrganization();
  const category = await world.aCategory({ is_private: true });
  const { slug } = await world.aTemplate({ category_id: category.id });
  const sees = async () => (await world.as(organization).get(`/api/v1/catalog/templates/${slug}`)).status === 200;
  return { organization, category, sees, ids: { org_id: organization.id, category_id: category.id } };
}

test('shows a granted category at the next request, and returns the existing grant when it is granted again', async () => {
  const { organization, category, sees, ids } = await aPrivateCategory();
  expect(await sees()).toBe(false);
  const first = await admin.post(PATH, ids);
  expect(first.status).toBe(201);
  expect(first.body.grant).toMatchObject({ ...ids, org_slug: organization.slug, category_slug: category.slug });
  expect(await sees()).toBe(true);
  const second = await admin.post(PATH, ids);
  expect(second.status).toBe(200);
  expect(second.body).toEqual(first.body);
  expect((await admin.get(PATH)).body.grants).toContainEqual(first.body.grant);
});

test('stores one grant for ten concurrent requests', async () => {
  const { ids } = await aPrivateCategory();
  const answers = await Promise.all(Array.from({ length: 10 }, () => admin.post(PATH, ids)));
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array(9).fill(200), 201]);
});

test.each(['by its id', 'by its id in the query', 'by organization and category'])(
  'revokes a grant that is identified %s',
  async (how) => {
    const { ids, sees } = await aPrivateCategory();
    const { id } = (await admin.post(PATH, ids)).body.grant;
    const revoke = () => {
      if (how === 'by its id') return admin.delete(PATH, { id });
      return how === 'by its id in the query' ? admin.delete(`${PATH}?id=${id}`) : admin.delete(PATH, ids);
    };
    expect((await revoke()).status).toBe(204);
    expect(await sees()).toBe(false);
    expect((await revoke()).status).toBe(404);
  },
);

test('rejects a revocation with an incomplete or contradictory reference to the grant', async () => {
  const { ids } = await aPrivateCategory();
  const { id } = (await admin.post(PATH, ids)).body.grant;
  expect((await admin.delete(PATH, { org_id: ids.org_id })).body.errors[0].path).toBe('id');
  expect((await admin.delete(PATH)).body.errors[0].path).toBe('id');
  expect((await admin.delete(PATH, { id, org_id: ABSENT })).status).toBe(404);
  expect((await admin.get(PATH)).body.grants.map((grant: { id: string }) => grant.id)).toContain(id);
});

test('answers 422 for a grant with an unknown organization or category', async () => {
  const { ids } = await aPrivateCategory();
  expect((await admin.post(PATH, { ...ids, org_id: ABSENT })).body.code).toBe('unknown_organization');
  expect((await admin.post(PATH, { ...ids, category_id: ABSENT })).body.code).toBe('unknown_category');
});

import { startWorld } from '../world.ts';

const world = await startWorld();
const { database } = world;
afterAll(() => world.stop());

const PATH = '/api/v1/account/organizations';

test('makes the creator of an organization its org_admin, with a free subscription', async () => {
  const user = await world.aUser('user');
  expect((await user.get(PATH)).body).toEqual({ organization: null });
  const { status, body } = await user.post(PATH, { name: 'Acme', slug: 'acme' });
  expect(status).toBe(201);
  expect(body.organization).toEqual({
    id: expect.any(String),
    name: 'Acme',
    slug: 'acme',
    tier: 'free',
    status: 'active',
  });
  expect((await user.get(PATH)).body).toEqual(body);
  expect((await user.get('/api/v1/account/profile')).body.profile).toMatchObject({ org_role: 'org_admin', ...body });
  expect((await user.post('/api/v1/account/api-keys', { name: 'first' })).status).toBe(201);
});

test('derives the slug of an organization from its name', async () => {
  const user = await world.aUser('user');
  const { body } = await user.post(PATH, { name: 'Café & Söhne' });
  expect(body.organization).toMatchObject({ name: 'Café & Söhne', slug: 'cafe-sohne' });
});

test('creates only one organization for a user, even with concurrent requests', async () => {
  const user = await world.aUser('user');
  const answers = await Promise.all(['one', 'two', 'three'].map((slug) => user.post(PATH, { name: slug, slug })));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
  expect((await user.post(PATH, { name: 'four', slug: 'four' })).body.code).toBe('already_in_organization');
  expect(await database.client.organization.count({ where: { slug: { in: ['one', 'two', 'three', 'four'] } } })).toBe(
    1,
  );
});

test('rejects a used slug with 409, and stores nothing', async () => {
  const { slug } = await world.anOrganization();
  const user = await world.aUser('user');
  const before = await database.client.subscription.count();
  expect((await user.post(PATH, { name: 'x', slug })).body.code).toBe('slug_taken');
  expect(await database.client.subscription.count()).toBe(before);
  expect((await user.get(PATH)).body).toEqual({ organization: null });
});

test.each([
  [{ slug: 'x' }, 'name'],
  [{ name: '???' }, 'slug'],
  [{ name: 'x', slug: 'Not A Slug' }, 'slug'],
  [{ name: 'x', slug: 'x', tier: 'enterprise' }, 'tier'],
])('rejects %j with an error for the member %s', async (body, path) => {
  const answer = await (await world.aUser('user')).post(PATH, body);
  expect(answer.status).toBe(400);
  expect(answer.body.errors[0].path).toBe(path);
});

test('gives members of a suspended organization read access only', async () => {
  const organization = await world.anOrganization({ status: 'suspended' });
  const member = await world.aMember(organization, 'org_admin');
  expect((await member.get(PATH)).body.organization.status).toBe('suspended');
  expect((await member.get('/api/v1/account/api-keys')).status).toBe(200);
  expect((await member.post('/api/v1/account/api-keys', { name: 'x' })).body.code).toBe('organization_suspended');
  expect((await member.put('/api/v1/account/profile', { name: 'x' })).body.code).toBe('organization_suspended');
});

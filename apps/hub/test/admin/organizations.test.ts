import { startWorld } from '../world.ts';

const world = await startWorld();
const admin = await world.aUser('admin');
afterAll(() => world.stop());

const PATH = '/api/v1/admin/organizations';

test('lists organizations with the counts of their members and keys', async () => {
  const organization = await world.anOrganization({ slug: 'counted' });
  await world.aMember(organization, 'member');
  await world.aMember(organization, 'org_admin');
  const { body } = await admin.get(PATH);
  const row = body.organizations.find(({ slug }: { slug: string }) => slug === 'counted');
  expect(row).toMatchObject({ status: 'active', tier: 'free', member_count: 2, api_key_count: 1 });
});

test('applies a change of the tier, a suspension and a reactivation at the next request', async () => {
  const organization = await world.anOrganization();
  const own = () => world.as(organization).get('/api/v1/catalog/organization');
  const { id } = organization;
  expect((await admin.put(PATH, { id, tier: 'pro' })).body.organization).toMatchObject({
    tier: 'pro',
    status: 'active',
  });
  expect((await own()).body.organization.tier).toBe('pro');
  await admin.put(PATH, { id, status: 'suspended' });
  expect((await own()).body.code).toBe('organization_suspended');
  await admin.put(PATH, { id, status: 'active' });
  expect((await own()).status).toBe(200);
});

test('accepts an organization as it was read, and rejects unknown values and ids', async () => {
  const { id } = await world.anOrganization();
  const row = (await admin.get(PATH)).body.organizations.find((one: { id: string }) => one.id === id);
  expect((await admin.put(PATH, { ...row, tier: 'enterprise' })).body.organization).toMatchObject({
    tier: 'enterprise',
  });
  expect((await admin.put(PATH, { id, tier: 'gold' })).body.errors[0].path).toBe('tier');
  expect((await admin.put(PATH, { id, status: 'deleted' })).body.errors[0].path).toBe('status');
  expect((await admin.put(PATH, { id: '00000000-0000-4000-8000-000000000000', tier: 'pro' })).status).toBe(404);
});

test('creates an organization with its tier, of which the administrator is no member', async () => {
  const { status, body } = await admin.post(PATH, { name: 'Acme Corp', tier: 'pro' });
  expect(status).toBe(201);
  expect(body.organization).toMatchObject({ name: 'Acme Corp', slug: 'acme-corp', tier: 'pro', status: 'active' });
  expect(body.organization).toMatchObject({ member_count: 0, api_key_count: 0 });
  expect((await admin.get('/api/v1/account/profile')).body.profile.organization).toBeNull();
  expect((await admin.post(PATH, { name: 'Other', slug: 'acme-corp' })).body.code).toBe('slug_taken');
  for (const [given, path] of [
    [{ name: '' }, 'name'],
    [{ name: '!!!' }, 'slug'],
    [{ name: 'x', slug: 'Not A Slug' }, 'slug'],
    [{ name: 'x', tier: 'gold' }, 'tier'],
  ] as const) {
    expect((await admin.post(PATH, given)).body.errors[0].path).toBe(path);
  }
});

test('the organizations that an administrator creates do not count as those of a user', async () => {
  for (const name of ['First of many', 'Second of many', 'Third of many', 'Fourth of many']) {
    expect((await admin.post(PATH, { name })).status).toBe(201);
  }
  expect((await admin.post('/api/v1/account/organizations', { name: 'Mine', slug: 'mine' })).status).toBe(201);
});

import { startWorld } from '../world.ts';

const world = await startWorld();
const admin = await world.aUser('admin');
afterAll(() => world.stop());

const PATH = '/api/v1/admin/api-keys';

test('lists the keys of all organizations without their secrets', async () => {
  const organizations = [await world.anOrganization({ slug: 'first' }), await world.anOrganization({ slug: 'second' })];
  const { body, text } = await admin.get(PATH);
  expect(body.apiKeys.map(({ org_slug }: { org_slug: string }) => org_slug)).toEqual(['second', 'first']);
  for (const { key, keyRow } of organizations) {
    expect(text).not.toContain(key);
    expect(text).not.toContain(keyRow.key_hash);
  }
});

test('revokes the key of any organization from the next request on, and accepts a repeated revocation', async () => {
  const organization = await world.anOrganization();
  const { id } = organization.keyRow;
  expect((await admin.delete(PATH, { id })).body.apiKey).toMatchObject({
    id,
    status: 'revoked',
    org_slug: organization.slug,
  });
  expect((await world.as(organization).get('/api/v1/catalog/organization')).status).toBe(401);
  expect((await admin.delete(`${PATH}?id=${id}`)).status).toBe(200);
  expect((await admin.delete(PATH, { id: '00000000-0000-4000-8000-000000000000' })).status).toBe(404);
  expect((await admin.delete(PATH)).body.errors[0].path).toBe('id');
});

test('counts all rows in the statistics', async () => {
  const category = await world.aCategory();
  await world.aTemplate({ category_id: category.id });
  const { client } = world.database;
  expect((await admin.get('/api/v1/admin/stats')).body).toEqual({
    users: await client.user.count(),
    organizations: await client.organization.count(),
    api_keys: await client.apiKey.count(),
    templates: 1,
    categories: 1,
  });
});

test('renames the key of any organization, and keeps its secret', async () => {
  const organization = await world.anOrganization();
  const { id } = organization.keyRow;
  const { status, body } = await admin.put(PATH, { id, name: ' build server ' });
  expect(status).toBe(200);
  expect(body.apiKey).toMatchObject({ id, name: 'build server', version: 2, org_slug: organization.slug });
  expect((await world.as(organization).get('/api/v1/catalog/organization')).status).toBe(200);
  expect((await admin.put(`${PATH}?id=${id}`, { ...body.apiKey, name: 'again' })).body.apiKey.name).toBe('again');
  const row = await world.database.client.apiKey.findUniqueOrThrow({ where: { id } });
  expect(row).toMatchObject({ name: 'again', key_hash: organization.keyRow.key_hash });
});

test('rejects a new name for a key with another version, for a revoked key and for an unknown key', async () => {
  const { keyRow } = await world.anOrganization();
  const { id } = keyRow;
  const rename = (headers = {}) => admin.put(PATH, { id, name: 'new' }, headers);
  expect((await rename({ 'If-Match': '"2"' })).body.code).toBe('version_conflict');
  await admin.delete(PATH, { id });
  expect((await rename()).body.code).toBe('key_revoked');
  expect((await admin.put(PATH, { id: '00000000-0000-4000-8000-000000000000', name: 'new' })).status).toBe(404);
  expect((await admin.put(PATH, { id })).body.errors[0].path).toBe('name');
  expect(await world.database.client.apiKey.findUnique({ where: { id } })).toMatchObject({ name: keyRow.name });
});

test('creates a key that the organization owns, whose secret is shown once, and that remains with the administrator gone', async () => {
  const creator = await world.aUser('admin');
  const { id: org_id, slug: org_slug } = await world.anOrganization();
  const { status, body, headers } = await creator.post(PATH, { org_id, name: 'fleet', expires_in_days: 30 });
  expect({ status, cache: headers['cache-control'] }).toEqual({ status: 201, cache: 'no-store' });
  const { key, ...apiKey } = body.apiKey;
  expect(apiKey).toMatchObject({ org_id, org_slug, name: 'fleet', status: 'active', owner: null, version: 1 });
  expect(apiKey.expires_at).toEqual(expect.any(String));
  const { text } = await admin.get(`${PATH}?org_id=${org_id}`);
  expect(text).toContain(apiKey.id);
  expect(text).not.toContain(key);
  const { id } = (await creator.get('/api/v1/account/profile')).body.profile;
  await admin.put(`/api/v1/admin/users?id=${id}`, { role: 'user' });
  const { body: own } = await world.api(`Bearer ${key}`).get('/api/v1/catalog/organization');
  expect(own.organization.id).toBe(org_id);
});

test('rejects a key of an unknown organization, without a name, and beyond the bound', async () => {
  const { id: org_id } = await world.anOrganization();
  const unknown = { org_id: '00000000-0000-4000-8000-000000000000', name: 'x' };
  expect((await admin.post(PATH, unknown)).body.code).toBe('unknown_organization');
  expect((await admin.post(PATH, { org_id })).body.errors[0].path).toBe('name');
  const data = Array.from({ length: 99 }, (_, index) => ({
    org_id,
    name: 'x',
    key_hash: `${org_id}-${index}`,
    key_prefix: 'svcc_',
  }));
  await world.database.client.apiKey.createMany({ data });
  expect((await admin.post(PATH, { org_id, name: 'x' })).body.code).toBe('too_many_keys');
});

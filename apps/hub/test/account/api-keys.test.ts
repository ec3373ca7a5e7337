import { randomUUID } from 'node:crypto';
import { isSecretToken } from '@svc/auth';
import { startWorld } from '../world.ts';

const world = await startWorld();
const { api, database } = world;
afterAll(() => world.stop());

const PATH = '/api/v1/account/api-keys';
const ABSENT = '00000000-0000-4000-8000-000000000000';

const statusWith = async (key: string) => (await api(`Bearer ${key}`).get('/api/v1/catalog/organization')).status;

async function anOrgAdmin() {
  const organization = await world.anOrganization();
  return { organization, admin: await world.aMember(organization, 'org_admin') };
}

test('returns a new key once, accepts it at the next request, and stores only its hash', async () => {
  const { admin } = await anOrgAdmin();
  const { status, body, headers } = await admin.post(PATH, { name: 'ci' });
  expect(status).toBe(201);
  const { id, key, key_prefix } = body.apiKey;
  expect(body.apiKey).toMatchObject({ name: 'ci', status: 'active', last_used_at: null, expires_at: null });
  expect(isSecretToken('svcc_', key)).toBe(true);
  expect(key_prefix).toBe(key.slice(0, 12));
  expect(headers['cache-control']).toBe('no-store');
  expect(await statusWith(key)).toBe(200);

  await world.usage.flush();
  const listed = (await admin.get(PATH)).body.apiKeys.find((row: { id: string }) => row.id === id);
  expect(listed).toMatchObject({ name: 'ci', status: 'active', last_used_at: expect.any(String) });
  expect(listed).not.toHaveProperty('key');
  const row = await database.client.apiKey.findUniqueOrThrow({ where: { id } });
  expect(JSON.stringify(row)).not.toContain(key);
});

test('accepts two keys with the same name', async () => {
  const { admin } = await anOrgAdmin();
  expect((await admin.post(PATH, { name: 'twin' })).status).toBe(201);
  expect((await admin.post(PATH, { name: 'twin' })).status).toBe(201);
});

test('expires a key by the clock of the database, and restarts its lifetime when it is re-issued', async () => {
  const { admin } = await anOrgAdmin();
  const { apiKey } = (await admin.post(PATH, { name: 'short', expires_in_days: 30 })).body;
  expect(Date.parse(apiKey.expires_at) - Date.parse(apiKey.created_at)).toBe(30 * 86_400_000);

  await database.client
    .$executeRaw`UPDATE api_keys SET expires_at = now() - interval '1 second' WHERE id = ${apiKey.id}::uuid`;
  expect(await statusWith(apiKey.key)).toBe(401);
  const listed = (await admin.get(PATH)).body.apiKeys.find((row: { id: string }) => row.id === apiKey.id);
  expect(listed.status).toBe('expired');

  const again = (await admin.put(PATH, { id: apiKey.id })).body.apiKey;
  expect(again).toMatchObject({ id: apiKey.id, status: 'active' });
  expect(Date.parse(again.expires_at)).toBeGreaterThan(Date.now() + 29 * 86_400_000);
  expect(await statusWith(again.key)).toBe(200);
});

test.each([0, 3651, 1.5, '30'])('rejects a key lifetime of %j days', async (expires_in_days) => {
  const { admin } = await anOrgAdmin();
  const { status, body } = await admin.post(PATH, { name: 'x', expires_in_days });
  expect(status).toBe(400);
  expect(body.errors[0].path).toBe('expires_in_days');
});

test('re-issues a key with the same id and a new secret, and rejects the old secret at the next request', async () => {
  const { admin } = await anOrgAdmin();
  const first = (await admin.post(PATH, { name: 'rotated' })).body.apiKey;
  const second = (await admin.put(PATH, { id: first.id })).body.apiKey;
  expect(second).toMatchObject({ id: first.id, name: 'rotated', created_at: first.created_at });
  expect(second.key).not.toBe(first.key);
  expect(second.key_prefix).toBe(second.key.slice(0, 12));
  expect(await statusWith(first.key)).toBe(401);
  expect(await statusWith(second.key)).toBe(200);
});

test('rejects a revoked key at the next request, does not re-issue it, and accepts a repeated revocation', async () => {
  const { admin } = await anOrgAdmin();
  const { id, key } = (await admin.post(PATH, { name: 'doomed' })).body.apiKey;
  expect(await statusWith(key)).toBe(200);
  expect((await admin.delete(`${PATH}?id=${id}`)).body.apiKey.status).toBe('revoked');
  expect(await statusWith(key)).toBe(401);
  expect((await admin.delete(PATH, { id })).status).toBe(200);
  expect((await admin.put(PATH, { id })).body.code).toBe('key_revoked');
});

test('answers 404 for the key of another organization exactly as for an unknown id, and leaves the key valid', async () => {
  const { admin } = await anOrgAdmin();
  const stranger = await world.anOrganization();
  const id = stranger.keyRow.id;
  for (const method of ['PUT', 'DELETE']) {
    const ask = (wanted: string) =>
      admin.send({ method, path: PATH, body: { id: wanted }, headers: { 'X-Request-Id': 'same' } });
    const theirs = await ask(id);
    const absent = await ask(ABSENT);
    expect(theirs.status).toBe(404);
    expect(theirs.text).toBe(absent.text);
  }
  expect(await statusWith(stranger.key)).toBe(200);
  expect((await admin.get(PATH)).body.apiKeys.map((row: { id: string }) => row.id)).not.toContain(id);
});

test('shows an empty list of keys to a user without an organization, and rejects changes with no_organization', async () => {
  const user = await world.aUser('user');
  expect((await user.get(PATH)).body).toEqual({
    apiKeys: [],
    pagination: { page: 1, limit: 0, total: 0, totalPages: 0 },
  });
  expect((await user.post(PATH, { name: 'x' })).body.code).toBe('no_organization');
  expect((await user.put(PATH, { id: ABSENT })).body.code).toBe('no_organization');
  expect((await user.delete(PATH, { id: ABSENT })).body.code).toBe('no_organization');
});

test('lets members list keys, and rejects changes by them', async () => {
  const { organization, admin } = await anOrgAdmin();
  const member = await world.aMember(organization, 'member');
  const { id } = (await admin.post(PATH, { name: 'seen' })).body.apiKey;
  expect((await member.get(PATH)).body.apiKeys.map((row: { id: string }) => row.id)).toContain(id);
  expect((await member.post(PATH, { name: 'x' })).status).toBe(403);
  expect((await member.put(PATH, { id })).status).toBe(403);
  expect((await member.delete(PATH, { id })).status).toBe(403);
});

test.each(['org_id', 'status', 'key', 'key_hash', 'revoked_at'])(
  'rejects a new key with the read-only member %s',
  async (member) => {
    const { admin } = await anOrgAdmin();
    const { status, body } = await admin.post(PATH, { name: 'x', [member]: 'x' });
    expect(status).toBe(400);
    expect(body.errors[0].path).toBe(member);
  },
);

test('lists the newest keys first, and returns the requested page', async () => {
  const { admin } = await anOrgAdmin();
  const names = ['one', 'two', 'three'];
  for (const name of names) await admin.post(PATH, { name });
  const { body } = await admin.get(`${PATH}?limit=2`);
  expect(body.apiKeys.map(({ name }: { name: string }) => name)).toEqual(['three', 'two']);
  expect(body.pagination).toEqual({ page: 1, limit: 2, total: 4, totalPages: 2 });
});

test('renames a key, and keeps its secret, prefix and expiry', async () => {
  const { admin } = await anOrgAdmin();
  const { key, ...created } = (await admin.post(PATH, { name: 'old', expires_in_days: 30 })).body.apiKey;
  const { status, body } = await admin.put(`${PATH}/${created.id}`, { ...created, name: 'new' });
  expect(status).toBe(200);
  expect(body.apiKey).toEqual({ ...created, name: 'new' });
  expect(await statusWith(key)).toBe(200);
});

test.each(['', ' ', 'a\nb', 'x'.repeat(201), null, undefined])('rejects %j as the new name of a key', async (name) => {
  const { admin, organization } = await anOrgAdmin();
  const { id } = organization.keyRow;
  const { status, body } = await admin.put(`${PATH}/${id}`, { name });
  expect(status).toBe(400);
  expect(body.errors[0].path).toBe('name');
  expect((await admin.get(PATH)).body.apiKeys).toMatchObject([{ id, name: 'key' }]);
});

test('does not rename a revoked key, a key of another organization or an unknown key, nor a key for a member', async () => {
  const { admin, organization } = await anOrgAdmin();
  const { id } = organization.keyRow;
  const stranger = await world.anOrganization();
  const rename = async (wanted: string) => (await admin.put(`${PATH}/${wanted}`, { name: 'new' })).body.code;
  const member = await world.aMember(organization, 'member');
  expect((await member.put(`${PATH}/${id}`, { name: 'new' })).status).toBe(403);
  await admin.delete(PATH, { id });
  expect(await rename(id)).toBe('key_revoked');
  for (const other of [stranger.keyRow.id, ABSENT, 'x']) expect(await rename(other)).toBe('not_found');
  const ids = [id, stranger.keyRow.id];
  expect(await database.client.apiKey.count({ where: { id: { in: ids }, name: 'key' } })).toBe(2);
});

/** Stores keys without the API, of which the first one is the oldest. */
async function storedKeys(organization: { readonly id: string }, count: number, revoked: boolean) {
  const day = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 1000);
  const data = Array.from({ length: count }, (_, n) => ({
    id: randomUUID(),
    org_id: organization.id,
    name: `stored ${n}`,
    key_hash: randomUUID(),
    key_prefix: 'svcc_stored',
    created_at: day(n),
    revoked_at: revoked ? day(n) : null,
  }));
  await database.client.apiKey.createMany({ data });
  return data.map(({ id }) => id);
}

test('rejects a key beyond 100 with the bound, until a key is revoked, also for concurrent requests', async () => {
  const { admin, organization } = await anOrgAdmin();
  const where = { org_id: organization.id, revoked_at: null };
  // 99 with the key of the organization.
  const [first = ''] = await storedKeys(organization, 98, false);
  const create = () => admin.post(PATH, { name: 'new' });
  const answers = await Promise.all([create(), create(), create(), create()]);
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  const refused = answers.find(({ status }) => status === 409);
  expect(refused?.body.code).toBe('too_many_keys');
  expect(refused?.body.detail).toContain('at most 100 are allowed. Revoke a key');
  expect(await database.client.apiKey.count({ where })).toBe(100);

  await database.client.apiKey.update({ where: { id: first }, data: { expires_at: new Date(0) } });
  expect((await create()).status).toBe(409); // expired keys can be reissued
  expect((await admin.delete(PATH, { id: first })).status).toBe(200);
  expect((await create()).status).toBe(201);
  expect((await create()).status).toBe(409);
});

test.each(['the organization', 'an administrator'])(
  'a revocation by %s keeps the last 1000 revoked keys of the organization, and deletes older ones',
  async (caller) => {
    const { admin, organization } = await anOrgAdmin();
    const other = await anOrgAdmin();
    const ids = await storedKeys(organization, 1001, true);
    await storedKeys(other.organization, 2, true);
    const { id } = organization.keyRow;
    const [revoker, path] =
      caller === 'the organization' ? [admin, PATH] : [await world.aUser('admin'), '/api/v1/admin/api-keys'];
    expect((await revoker.delete(path, { id })).body.apiKey).toMatchObject({ id, status: 'revoked' });
    const left = await database.client.apiKey.findMany({ where: { org_id: organization.id }, select: { id: true } });
    expect(left.map((row) => row.id).sort()).toEqual([...ids.slice(2), id].sort());
    expect(await database.client.apiKey.count({ where: { org_id: other.organization.id } })).toBe(3);
  },
);

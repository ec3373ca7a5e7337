import { hashSecretToken, isSecretToken, newSecretToken } from '@svc/auth';
import { connectionsBlocked } from '@svc/testing';
import { startWorld } from '../world.ts';

const world = await startWorld();
const { client } = world.database;
const admin = await world.aUser('admin');
const superadmin = await world.aUser('superadmin');
const category = await world.aCategory({ slug: 'databases' });
const other = await world.aCategory({ slug: 'tools' });
afterAll(() => world.stop());

const PATH = '/api/v1/admin/service-tokens';
const EXPORT = '/api/v1/publish/export';
const USERS = '/api/v1/admin/users';
type Api = typeof admin;
const idOf = async (api: Api): Promise<string> => (await api.get('/api/v1/account/profile')).body.profile.id;
const valid = { name: 'ci', scopes: ['export'], categories: ['databases'], expires_in_days: 90 };
const DAY_MS = 24 * 3_600_000;

test('a token is created with its scopes, categories, owner and expiry, and its secret is shown once', async () => {
  const scopes = ['import', 'prune'];
  const { status, body, headers } = await admin.post(PATH, { ...valid, scopes, categories: [other.id, 'databases'] });
  expect(status).toBe(201);
  expect(headers['cache-control']).toBe('no-store');
  const { secret, ...token } = body.serviceToken;
  expect(isSecretToken('svcs_', secret)).toBe(true);
  expect(token).toMatchObject({
    name: 'ci',
    status: 'active',
    scopes,
    categories: [
      { id: category.id, slug: 'databases' },
      { id: other.id, slug: 'tools' },
    ],
    token_prefix: secret.slice(0, 12),
    last_used_at: null,
    owner: { id: await idOf(admin), email: expect.any(String) },
  });
  expect((Date.parse(token.expires_at) - Date.parse(token.created_at)) / DAY_MS).toBeCloseTo(90, 0);
  const { body: list, text } = await superadmin.get(`${PATH}?search=CI&status=active&owner_id=${token.owner.id}`);
  expect(list.serviceTokens).toEqual([token]);
  expect(text).not.toContain(secret);
  const { token_hash, ...row } = await client.serviceToken.findUniqueOrThrow({ where: { id: token.id } });
  expect(token_hash).toBe(hashSecretToken(secret));
  expect(JSON.stringify(row)).not.toContain(secret.slice(12));
});

test.each([
  ['no name', { name: ' ' }, 'name'],
  ['no scope', { scopes: [] }, 'scopes'],
  ['an unknown scope', { scopes: ['admin'] }, 'scopes.0'],
  ['a scope twice', { scopes: ['import', 'import'] }, 'scopes'],
  ['prune without import', { scopes: ['prune'] }, 'scopes'],
  ['no category', { categories: [] }, 'categories'],
  ['no list of categories', { categories: undefined }, 'categories'],
  ['no expiry', { expires_in_days: undefined }, 'expires_in_days'],
  ['an expiry of null', { expires_in_days: null }, 'expires_in_days'],
  ['an expiry after more than 365 days', { expires_in_days: 366 }, 'expires_in_days'],
  ['an expiry of today', { expires_in_days: 0 }, 'expires_in_days'],
])('a token with %s is refused', async (_, given, path) => {
  const { status, body } = await admin.post(PATH, { ...valid, ...given });
  expect({ status, path: body.errors[0].path }).toEqual({ status: 400, path });
});

test.each(['nowhere', '00000000-0000-4000-8000-000000000000'])(
  'a token for the unknown category %s is refused',
  async (unknown) => {
    const { status, body } = await admin.post(PATH, { ...valid, categories: ['databases', unknown] });
    expect({ status, code: body.code }).toEqual({ status: 422, code: 'unknown_category' });
    expect(body.detail).toContain(unknown);
  },
);

test('an entry in the form of a UUID is the id of a category, never a slug', async () => {
  const lookalike = await world.aCategory({ slug: other.id });
  expect((await admin.post(PATH, { ...valid, categories: [lookalike.slug] })).body.serviceToken.categories).toEqual([
    { id: other.id, slug: 'tools' },
  ]);
});

test('an administrator has at most 100 active tokens', async () => {
  const owner = await world.aUser('admin');
  const owner_id = await idOf(owner);
  const expires_at = new Date(Date.now() + DAY_MS);
  await client.serviceToken.createMany({
    data: Array.from({ length: 100 }, () => {
      const token = newSecretToken('svcs_');
      return { name: 'x', token_hash: hashSecretToken(token), token_prefix: 'svcs_', scopes: [], owner_id, expires_at };
    }),
  });
  const refused = await owner.post(PATH, valid);
  expect(refused).toMatchObject({ status: 409, body: { code: 'too_many_tokens' } });
  expect(refused.body.detail).toMatch(/at most 100/);
  const { body } = await owner.get(`${PATH}?owner_id=${owner_id}&limit=1`);
  expect((await superadmin.delete(PATH, { id: body.serviceTokens[0].id })).status).toBe(200);
  expect((await owner.post(PATH, valid)).status).toBe(201);
});

test('a token is of use until any administrator revokes it, which can be repeated', async () => {
  const token = await world.aServiceToken(admin, { categories: ['databases'] });
  expect((await token.get(EXPORT)).status).toBe(200);
  const revoked = await superadmin.delete(PATH, { id: token.id });
  expect(revoked.body.serviceToken).toMatchObject({ status: 'revoked', last_used_at: expect.any(String) });
  expect(await token.get(EXPORT)).toMatchObject({ status: 401, body: { code: 'invalid_token' } });
  expect((await superadmin.delete(`${PATH}?id=${token.id}`)).status).toBe(200);
  expect((await superadmin.delete(PATH, { id: '00000000-0000-4000-8000-000000000000' })).status).toBe(404);
});

describe('a token', () => {
  /** An administrator with a token. */
  async function aScene() {
    const owner = await world.aUser('admin');
    const token = await world.aServiceToken(owner, { categories: ['databases'] });
    expect((await token.get(EXPORT)).status).toBe(200);
    return { owner, ownerId: await idOf(owner), token };
  }
  const statusOf = async (id: string) => {
    const { body } = await superadmin.get(PATH);
    return body.serviceTokens.find((each: { id: string }) => each.id === id)?.status;
  };

  test.each([
    ['was demoted', { role: 'user' }, { role: 'admin' }],
    ['was blocked', { blocked: true }, { blocked: false }],
  ])('ends at the next request after its owner %s, also if this is undone', async (_, change, undone) => {
    const { ownerId, token } = await aScene();
    expect((await superadmin.put(`${USERS}?id=${ownerId}`, change)).status).toBe(200);
    expect((await token.get(EXPORT)).status).toBe(401);
    expect((await superadmin.put(`${USERS}?id=${ownerId}`, undone)).status).toBe(200);
    expect((await token.get(EXPORT)).status).toBe(401);
    expect(await statusOf(token.id)).toBe('revoked');
  });

  test('remains if its owner becomes a superadmin, or an admin again', async () => {
    const { ownerId, token } = await aScene();
    for (const role of ['superadmin', 'admin']) {
      await superadmin.put(`${USERS}?id=${ownerId}`, { role });
      expect((await token.get(EXPORT)).status).toBe(200);
    }
  });

  test('is not valid while another version has demoted its owner without a revocation', async () => {
    const { ownerId, token } = await aScene();
    await client.user.update({ where: { id: ownerId }, data: { role: 'user' } });
    expect((await token.get(EXPORT)).status).toBe(401);
    expect(await statusOf(token.id)).toBe('revoked');
  });

  test('ends with the user who owns it', async () => {
    const { ownerId, token } = await aScene();
    await client.user.delete({ where: { id: ownerId } });
    expect((await token.get(EXPORT)).status).toBe(401);
    expect(await statusOf(token.id)).toBeUndefined();
  });

  test('that is created while its owner is demoted is not valid afterwards', async () => {
    const owner = await world.aUser('admin');
    const ownerId = await idOf(owner);
    const requests = await client.$transaction(async (transaction) => {
      // The row can be read, but not changed.
      await transaction.$executeRaw`LOCK TABLE service_tokens IN SHARE MODE`;
      const creation = owner.post(PATH, valid);
      await connectionsBlocked(client, 1);
      const demotion = superadmin.put(`${USERS}?id=${ownerId}`, { role: 'user' });
      await connectionsBlocked(client, 2);
      return { creation, demotion };
    });
    const { secret } = (await requests.creation).body.serviceToken;
    expect((await requests.demotion).status).toBe(200);
    expect((await world.api(`Bearer ${secret}`).get(EXPORT)).status).toBe(401);
  });
});

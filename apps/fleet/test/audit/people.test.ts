import { TEMPORARY_ADMIN } from '../world.ts';
import { aSignInCode } from './browser.ts';
import { startPeopleWorld } from './world.ts';

const { world, client } = await startPeopleWorld();

/** The entries that an operation added, oldest first. */
async function entriesOf(work: () => Promise<unknown>) {
  const before = new Set((await client.auditEntry.findMany()).map(({ id }) => id));
  await work();
  const all = await client.auditEntry.findMany({ orderBy: [{ at: 'asc' }, { id: 'asc' }] });
  return all
    .filter(({ id }) => !before.has(id))
    .map(({ actor, user_id, token_id, method, path, status }) => ({
      actor,
      user_id,
      token_id,
      what: `${method} ${path} ${status}`,
    }));
}

const LOGIN = '/api/v1/auth/login';

test('the audit entries of the sign-in and log-out of a local user name the user', async () => {
  const user = await world.aUser('viewer');
  const who = { actor: user.email, user_id: user.id, token_id: null };
  expect(await entriesOf(() => user.signIn())).toEqual([{ ...who, what: `POST ${LOGIN} 200` }]);
  const api = await user.api();
  expect(await entriesOf(() => api.post('/api/v1/auth/logout'))).toEqual([
    { ...who, what: 'POST /api/v1/auth/logout 204' },
  ]);
});

test('the audit entry of a sign-in of the temporary admin names the temporary admin', async () => {
  expect(await entriesOf(() => world.signIn())).toEqual([
    { actor: 'temporary-admin', user_id: null, token_id: null, what: `POST ${LOGIN} 200` },
  ]);
});

test('a sign-in at the provider has one audit entry, which names the user', async () => {
  const entries = await entriesOf(async () => {
    const { status } = await world.nobody.post('/api/v1/auth/exchange', { code: await aSignInCode(world.nobody) });
    expect(status).toBe(200);
  });
  const { id } = await client.user.findFirstOrThrow({ where: { source: 'oidc' } });
  expect(entries).toEqual([
    { actor: 'ada@provider.test', user_id: id, token_id: null, what: 'GET /api/v1/auth/oidc/callback 302' },
  ]);
});

test('changes have audit entries that name the user, and rejected changes have none', async () => {
  const admin = await world.aUser('admin');
  const victim = await world.aUser('viewer');
  const api = await admin.api();
  const entries = await entriesOf(async () => {
    await api.put(`/api/v1/users/${victim.id}`, { role: 'operator' });
    await api.put(`/api/v1/users/${victim.id}`, { role: 'king' });
    await api.delete(`/api/v1/users/${victim.id}`);
    await api.delete(`/api/v1/users/${victim.id}`);
    await api.put('/api/v1/settings/hub', { sync_interval: 5 });
    await api.post('/api/v1/catalog/sync');
  });
  const who = { actor: admin.email, user_id: admin.id, token_id: null };
  expect(entries).toEqual([
    { ...who, what: `PUT /api/v1/users/${victim.id} 200` },
    { ...who, what: `DELETE /api/v1/users/${victim.id} 204` },
    { ...who, what: 'PUT /api/v1/settings/hub 200' },
    { ...who, what: 'POST /api/v1/catalog/sync 200' },
  ]);
});

test('reads, refreshes and failed sign-ins of people have no audit entries', async () => {
  const user = await world.aUser('admin');
  const { access_token, refresh_token } = await user.signIn();
  const api = world.api(`Bearer ${access_token}`);
  const entries = await entriesOf(async () => {
    for (const path of ['users', 'tokens', 'audit', 'auth/me', 'settings/hub', 'catalog/templates']) {
      expect((await api.get(`/api/v1/${path}`)).status).toBe(200);
    }
    expect((await world.nobody.post('/api/v1/auth/refresh', { refresh_token })).status).toBe(200);
    expect((await world.nobody.post(LOGIN, { email: user.email, password: 'wrong' })).status).toBe(401);
    expect((await world.nobody.post(LOGIN, { ...TEMPORARY_ADMIN, password: 'wrong' })).status).toBe(401);
  });
  expect(entries).toEqual([]);
});

test('a sign-in request with a token has the audit entry of the token', async () => {
  const token = await world.aToken({ name: 'beside' });
  expect(await entriesOf(() => world.as(token).post(LOGIN, TEMPORARY_ADMIN))).toEqual([
    { actor: 'token:beside', user_id: null, token_id: token.id, what: `POST ${LOGIN} 200` },
  ]);
});

test('audit entries outlive the user, the revoked token and their names', async () => {
  const admin = await world.aUser('admin');
  const api = await admin.api();
  const { body } = await api.post('/api/v1/tokens', { name: 'short-lived', role: 'viewer' });
  await world.api(`Bearer ${body.token.secret}`).get('/nothing');
  const seen = async () =>
    (await client.auditEntry.findMany({ where: { OR: [{ user_id: admin.id }, { token_id: body.token.id }] } })).length;
  const before = await seen();
  expect(before).toBe(3);
  expect((await world.asAdmin.delete(`/api/v1/users/${admin.id}`)).status).toBe(204);
  expect(await seen()).toBe(before);
  expect(await client.token.findUnique({ where: { id: body.token.id } })).toMatchObject({
    revoked_at: expect.any(Date),
  });
  const { body: page } = await world.asAdmin.get(`/api/v1/audit?token_id=${body.token.id}`);
  expect(page.entries).toMatchObject([{ actor: 'token:short-lived', path: '/nothing' }]);
});

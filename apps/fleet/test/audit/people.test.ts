import { TEMPORARY_ADMIN } from '../world.ts';
import { aSignInCode, openProviderCallback } from './browser.ts';
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

test('a sign-in at the provider that is rejected because the user has no role has an audit entry', async () => {
  await world.asAdmin.put('/api/v1/settings/oidc', { role_claim: 'nothing' });
  const callback = { method: 'GET', ...(await openProviderCallback(world.nobody)) };
  const entries = await entriesOf(async () => expect((await world.nobody.send(callback)).status).toBe(403));
  await world.asAdmin.delete('/api/v1/settings/oidc');
  expect(entries).toMatchObject([{ actor: 'ada@provider.test', what: 'GET /api/v1/auth/oidc/callback 403' }]);
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
  const path = `/api/v1/users/${victim.id}`;
  const named = await client.auditEntry.findMany({ where: { path }, select: { object_name: true } });
  expect(named).toEqual([{ object_name: victim.email }, { object_name: victim.email }]);
});

test('reads and refreshes of people have no audit entries', async () => {
  const user = await world.aUser('admin');
  const { access_token, refresh_token } = await user.signIn();
  const api = world.api(`Bearer ${access_token}`);
  const entries = await entriesOf(async () => {
    for (const path of ['users', 'tokens', 'audit', 'auth/me', 'settings/hub', 'catalog/templates']) {
      expect((await api.get(`/api/v1/${path}`)).status).toBe(200);
    }
    expect((await world.nobody.post('/api/v1/auth/refresh', { refresh_token })).status).toBe(200);
  });
  expect(entries).toEqual([]);
});

test.each(['user', 'temporary admin', 'nobody'] as const)(
  'a failed sign-in to the account of %s has an audit entry with the account if it exists, and not with what was typed',
  async (account) => {
    const user = await world.aUser('viewer');
    const typed = 'typed by mistake';
    const { body, who } = {
      user: { body: { email: ` ${user.email.toUpperCase()}` }, who: { actor: user.email, user_id: user.id } },
      'temporary admin': {
        body: { username: TEMPORARY_ADMIN.username },
        who: { actor: 'temporary-admin', user_id: null },
      },
      nobody: { body: { email: `${typed}@example.test` }, who: { actor: 'unknown account', user_id: null } },
    }[account];
    const entries = await entriesOf(() => world.nobody.post(LOGIN, { ...body, password: typed }));
    expect(entries).toEqual([{ ...who, token_id: null, what: `POST ${LOGIN} 401` }]);
    expect(JSON.stringify(await client.auditEntry.findMany())).not.toContain(typed);
  },
);

test('sign-ins whose password is not compared have no audit entries, so that callers cannot fill the log', async () => {
  const from = { 'X-Forwarded-For': '198.18.7.7' };
  const fail = () => world.nobody.post(LOGIN, { email: 'blocked@example.test', password: 'wrong' }, from);
  const evaluated = await entriesOf(async () => {
    for (let failures = 0; failures < 6; failures++) expect((await fail()).status).toBe(401);
  });
  expect(evaluated).toHaveLength(6);
  await client.$executeRaw`UPDATE sign_in_failures SET blocked_until = now() + interval '1 hour'`;
  const blocked = await entriesOf(async () => expect((await fail()).status).toBe(429));
  await client.signInFailure.deleteMany();
  expect(blocked).toEqual([]);
});

test('an audit entry has the address of the caller that the trusted proxies report', async () => {
  const token = await world.aToken({ role: 'admin' });
  const sourcesOf = async (forwarded: string) => {
    await world.as(token).get('/nothing', { 'X-Forwarded-For': forwarded });
    const { entries } = (await world.asAdmin.get(`/api/v1/audit?token_id=${token.id}&limit=1`)).body;
    return entries.map(({ source }: { source: string | null }) => source);
  };
  expect(await sourcesOf('203.0.113.9, 198.18.3.4')).toEqual(['198.18.3.4']);
  expect(await sourcesOf('2001:db8:0:0::1%eth0')).toEqual(['2001:db8::1']);
  expect(await sourcesOf('::ffff:198.18.3.4')).toEqual(['198.18.3.4']);
  expect(await sourcesOf('any text of a proxy')).toEqual([null]);
});

test('audit entries of changes and sign-ins have the address of the caller', async () => {
  const from = { 'X-Forwarded-For': '198.18.9.9' };
  const user = await world.aUser('admin');
  const { body } = await world.nobody.post(LOGIN, { email: user.email, password: user.password }, from);
  await world.api(`Bearer ${body.access_token}`).post('/api/v1/tokens', { name: 'x', role: 'viewer' }, from);
  const written = await client.auditEntry.findMany({ where: { user_id: user.id } });
  expect(written.map(({ source }) => source)).toEqual(['198.18.9.9', '198.18.9.9']);
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

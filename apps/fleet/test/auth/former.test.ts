// Attacks with former rights: every credential of a former admin, on every replica.
import type { Answered, Api } from '@svc/testing';
import { startWorld } from '../world.ts';
import { CONSOLE_URL, cookieIn, OF_CONSOLE, SESSION } from './console.ts';

const world = await startWorld({ publicUrl: CONSOLE_URL });
const replicas = [world, world.aReplica({ publicUrl: CONSOLE_URL })] as const;
afterAll(() => world.stop());
await world.aUser('admin'); // so that each other admin can be removed

const { asAdmin, nobody } = world;
const TOKENS = '/api/v1/tokens';
const USERS = '/api/v1/users';
const REFRESH = '/api/v1/auth/refresh';

/** An admin with one credential of each kind. */
async function anAdmin() {
  const user = await world.aUser('admin');
  const { id, email, password } = user;
  const session = await user.signIn();
  const unused = await user.signIn(); // its refresh token is used after the end
  const opened = await nobody.post(SESSION, { email, password }, OF_CONSOLE);
  const asUser = world.api(`Bearer ${session.access_token}`);
  const create = async (by: Api) => (await by.post(TOKENS, { name: 'a token', role: 'admin' })).body.token.secret;
  const token: string = await create(asUser);
  const child: string = await create(world.api(`Bearer ${token}`));
  const { body: invited } = await asAdmin.post(USERS, { email: `invited-${email}`, role: 'admin' });
  const { body } = await asUser.post(`${USERS}/${invited.user.id}/invitation`);
  return { id, email, password, session, unused, cookie: cookieIn(opened), token, child, code: body.invitation.code };
}
type Admin = Awaited<ReturnType<typeof anAdmin>>;

const bearer = (secret: string) => (fleet: Pick<typeof world, 'api'>) => fleet.api(`Bearer ${secret}`);
const inBrowser = (cookie: string) => (fleet: Pick<typeof world, 'api'>) => {
  const api = fleet.api();
  const headers = { ...OF_CONSOLE, Cookie: cookie };
  return { ...api, send: (wanted: Parameters<Api['send']>[0]) => api.send({ ...wanted, headers }) };
};

/** What needs the role admin. Requests that change something are valid. */
const attempts: Readonly<Record<string, (api: Api) => Promise<Answered>>> = {
  'reads the settings': (api) => api.send({ method: 'GET', path: '/api/v1/settings/oidc' }),
  'reads the audit log': (api) => api.send({ method: 'GET', path: '/api/v1/audit' }),
  'creates a token': (api) => api.send({ method: 'POST', path: TOKENS, body: { name: 'mine', role: 'viewer' } }),
  'creates an admin': (api) => {
    const email = `${Math.random().toString(36).slice(2)}@example.test`;
    return api.send({ method: 'POST', path: USERS, body: { email, role: 'admin' } });
  },
};

/** @returns the attempts that succeed with a credential, on each replica */
async function successes(name: string, callerAt: (fleet: (typeof replicas)[number]) => Api): Promise<string[]> {
  const found: string[] = [];
  for (const replica of replicas) {
    for (const [attempt, send] of Object.entries(attempts)) {
      if ((await send(callerAt(replica))).status < 300) found.push(`${name} ${attempt}`);
    }
  }
  return found;
}

/** Everything that a former admin can try with a session. */
async function bySessions({ session, unused, cookie, email, password }: Admin): Promise<string[]> {
  const found = [
    ...(await successes('the access token', bearer(session.access_token))),
    ...(await successes('the cookie', inBrowser(cookie))),
  ];
  const again = await Promise.all([
    nobody.post(REFRESH, { refresh_token: session.refresh_token }),
    nobody.post(REFRESH, { refresh_token: unused.refresh_token }),
    nobody.post('/api/v1/auth/login', { email, password }),
  ]);
  for (const { body } of again) {
    if (body?.access_token) found.push(...(await successes('a new access token', bearer(body.access_token))));
  }
  return found;
}

async function byCreated({ token, child, code }: Admin): Promise<string[]> {
  const accepted = await nobody.post('/api/v1/auth/invitation', { code, password: 'seventeen quiet tractors' });
  return [
    ...(await successes('the token', bearer(token))),
    ...(await successes('the token of the token', bearer(child))),
    ...(accepted.status < 300 ? ['the invitation sets a password'] : []),
  ];
}

test('each credential of a present admin succeeds', async () => {
  const admin = await anAdmin();
  const expected = [admin.session.access_token, admin.token, admin.child];
  for (const secret of expected) expect(await successes('x', bearer(secret))).toHaveLength(2 * 4);
  expect(await successes('x', inBrowser(admin.cookie))).toHaveLength(2 * 4);
});

test.each([
  ['was removed', ({ id }: Admin) => asAdmin.delete(`${USERS}/${id}`)],
  ['is blocked', ({ id }: Admin) => asAdmin.put(`${USERS}/${id}`, { blocked: true })],
  ['is an operator now', ({ id }: Admin) => asAdmin.put(`${USERS}/${id}`, { role: 'operator' })],
  ['is a viewer now', ({ id }: Admin) => asAdmin.put(`${USERS}/${id}`, { role: 'viewer' })],
])('no credential of an admin who %s gives the rights of an admin', async (_, end) => {
  const admin = await anAdmin();
  expect((await end(admin)).status).toBeLessThan(300);
  expect(await bySessions(admin)).toEqual([]);
  expect(await byCreated(admin)).toEqual([]);
});

test.each([
  ['has a new password', ({ id }: Admin) => asAdmin.put(`${USERS}/${id}`, { password: 'eleven patient walruses' })],
  [
    'signed out everywhere and chose another password',
    async ({ id, session, password }: Admin) => {
      const asUser = bearer(session.access_token)(world);
      const changed = { current_password: password, new_password: 'eleven patient walruses' };
      expect((await asUser.put('/api/v1/auth/password', changed)).status).toBe(204);
      const ended = await asUser.delete('/api/v1/auth/sessions');
      expect(await world.database.client.session.count({ where: { user_id: id, ended_at: null } })).toBe(0);
      return ended;
    },
  ],
])('no former session of an admin who %s is valid', async (_, end) => {
  const admin = await anAdmin();
  expect((await end(admin)).status).toBeLessThan(300);
  expect(await bySessions(admin)).toEqual([]);
});

test('what was created with a revoked token gives no rights, and a user with the address of a removed one has none of theirs', async () => {
  const admin = await anAdmin();
  const [{ id } = { id: '' }] = (await asAdmin.get(`${TOKENS}?limit=100`)).body.tokens.filter(
    ({ token_prefix }: { token_prefix: string }) => admin.token.startsWith(token_prefix),
  );
  await asAdmin.delete(`${TOKENS}/${id}`);
  expect(await successes('the token', bearer(admin.token))).toEqual([]);
  expect(await successes('the token of the token', bearer(admin.child))).toEqual([]);
  await asAdmin.delete(`${USERS}/${admin.id}`);
  const password = 'eleven patient walruses';
  expect((await asAdmin.post(USERS, { email: admin.email, role: 'admin', password })).status).toBe(201);
  expect(await bySessions(admin)).toEqual([]);
  expect(await byCreated(admin)).toEqual([]);
});

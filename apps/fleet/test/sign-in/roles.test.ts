import { meAt } from './browser.ts';
import { startSignInWorld } from './world.ts';

const world = await startSignInWorld();
const { replicas, signIn, accessToken, enter, says, newBrowser } = world;
const sql = world.database.client;

const SETTINGS = '/api/v1/settings/oidc';
const set = async (mapping: object) => expect((await world.asAdmin.put(SETTINGS, mapping)).status).toBe(200);
afterEach(async () => {
  await world.asAdmin.delete(SETTINGS);
});

/** The role as both replicas see it; the status where there is none. */
async function rolesOf(credential: string) {
  const answers = await meAt(replicas, credential);
  return answers.map(({ status, body }) => (status === 200 ? body.user.role : status));
}

const GROUPS = { 'platform-team': 'admin', developers: 'operator' };

test.each<[string, object, object, string | number]>([
  ['the claim says the role', { role: 'operator' }, {}, 'operator'],
  ['the highest of a list counts', { role: ['viewer', 'admin', 'operator'] }, {}, 'admin'],
  ['a nested claim', { realm_access: { roles: ['viewer'] } }, { role_claim: 'realm_access.roles' }, 'viewer'],
  ['a claim whose name has dots', { 'a.b/c': 'admin' }, { role_claim: 'a.b/c' }, 'admin'],
  ['a mapped value', { groups: ['developers'] }, { role_claim: 'groups', role_map: GROUPS }, 'operator'],
  ['a value that the map does not name', { groups: ['admin'] }, { role_claim: 'groups', role_map: GROUPS }, 403],
  ['a value that objects inherit', { role: 'constructor' }, { role_map: { x: 'admin' } }, 403],
  ['a value in another case', { role: 'Admin' }, {}, 403],
  ['a claim of another type', { role: { admin: true } }, {}, 403],
  ['no claim, and a default', { role: undefined }, { default_role: 'viewer' }, 'viewer'],
  ['no claim, and no default', { role: undefined }, { default_role: 'none' }, 403],
  ['a path that leads nowhere', { role: 'admin' }, { role_claim: 'role.admin' }, 403],
])('%s', async (_, claims, mapping, role) => {
  await set(mapping);
  const token = await accessToken({ role: undefined, ...claims });
  expect(await rolesOf(token)).toEqual([role, role]);
});

test('a changed mapping counts at the next request, on every replica, for who is signed in already', async () => {
  const { access_token } = await signIn({ sub: 'mara', role: 'viewer', groups: ['developers'] });
  const itself = await accessToken({ sub: 'mara', role: 'viewer', groups: ['developers'] });
  expect(await rolesOf(access_token)).toEqual(['viewer', 'viewer']);
  await set({ role_claim: 'groups', role_map: GROUPS });
  expect([await rolesOf(access_token), await rolesOf(itself)]).toEqual([
    ['operator', 'operator'],
    ['operator', 'operator'],
  ]);
  await set({ role_map: { developers: 'admin' } });
  expect([await rolesOf(access_token), await rolesOf(itself)]).toEqual([
    ['admin', 'admin'],
    ['admin', 'admin'],
  ]);
  await set({ role_map: {} });
  expect([await rolesOf(access_token), await rolesOf(itself)]).toEqual([
    [403, 403],
    [403, 403],
  ]);
  await set({ default_role: 'viewer' });
  expect(await rolesOf(access_token)).toEqual(['viewer', 'viewer']);
});

test('the users’ list shows the roles as they are mapped now, and null for none', async () => {
  await signIn({ sub: 'nora', role: 'viewer', groups: ['developers'] });
  const { id } = await sql.user.findFirstOrThrow({ where: { sub: 'nora' } });
  const shown = async () => (await world.asViewer.get(`/api/v1/users/${id}`)).body.user.role;
  expect(await shown()).toBe('viewer');
  await set({ role_claim: 'groups', role_map: GROUPS });
  expect(await shown()).toBe('operator');
  await set({ role_map: {} });
  expect(await shown()).toBeNull();
});

test('who gets no role is told so at sign-in, and nothing of them is kept', async () => {
  says({ sub: 'otto', role: 'guest' });
  const before = await sql.session.count();
  const { status, body } = await enter();
  expect([status, body.code, body.detail]).toEqual([403, 'insufficient_scope', expect.stringContaining('no role')]);
  expect(await sql.session.count()).toBe(before);
  expect(await sql.user.count({ where: { sub: 'otto' } })).toBe(0);
});

test('who lost their role between the callback and the exchange is told so, without tokens', async () => {
  says({ sub: 'paul', role: 'viewer' });
  const browser = newBrowser();
  const back = await enter(browser);
  await set({ role_map: {} });
  const { status, body } = await browser.exchange(back);
  expect([status, body.code]).toEqual([403, 'insufficient_scope']);
});

test('who lost their role gets no fresh tokens, and is forbidden what their role would permit', async () => {
  const { access_token, refresh_token } = await signIn({ sub: 'quinn', role: 'admin' });
  const api = world.other.api(`Bearer ${access_token}`);
  expect((await api.get('/api/v1/audit')).status).toBe(200);
  await set({ role_map: { admin: 'operator' } });
  expect((await api.get('/api/v1/audit')).status).toBe(403);
  await set({ role_map: {} });
  expect((await world.nobody.post('/api/v1/auth/refresh', { refresh_token })).body.code).toBe('insufficient_scope');
});

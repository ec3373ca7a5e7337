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

/** The role as both replicas report it, or the status if there is none. */
async function rolesOf(credential: string) {
  const answers = await meAt(replicas, credential);
  return answers.map(({ status, body }) => (status === 200 ? body.user.role : status));
}

const GROUPS = { 'platform-team': 'admin', developers: 'operator' };

test.each<[string, object, object, string | number]>([
  ['a claim with the role', { role: 'operator' }, {}, 'operator'],
  ['the highest of a list', { role: ['viewer', 'admin', 'operator'] }, {}, 'admin'],
  ['a nested claim', { realm_access: { roles: ['viewer'] } }, { role_claim: 'realm_access.roles' }, 'viewer'],
  ['a claim whose name has dots', { 'a.b/c': 'admin' }, { role_claim: 'a.b/c' }, 'admin'],
  ['a mapped value', { groups: ['developers'] }, { role_claim: 'groups', role_map: GROUPS }, 'operator'],
  ['a value that the map does not name', { groups: ['admin'] }, { role_claim: 'groups', role_map: GROUPS }, 403],
  ['a value that objects inherit', { role: 'constructor' }, { role_map: { x: 'admin' } }, 403],
  ['a value in another case', { role: 'Admin' }, {}, 403],
  ['a claim of another type', { role: { admin: true } }, {}, 403],
  ['no claim, and a default', { role: undefined }, { default_role: 'viewer' }, 'viewer'],
  ['no claim, and no default', { role: undefined }, { default_role: 'none' }, 403],
  ['a path without a value', { role: 'admin' }, { role_claim: 'role.admin' }, 403],
])('the role of a signed-in user follows from the claims: %s', async (_, claims, mapping, role) => {
  await set(mapping);
  const token = await accessToken({ role: undefined, ...claims });
  expect(await rolesOf(token)).toEqual([role, role]);
});

test('a changed mapping applies to signed-in users at the next request, on every replica', async () => {
  const { access_token } = await signIn({ sub: 'mara', role: 'viewer', groups: ['developers'] });
  const itself = await accessToken({ sub: 'mara', role: 'viewer', groups: ['developers'] });
  expect(await rolesOf(access_token)).toEqual(['viewer', 'viewer']);
  await set({ role_claim: 'groups', role_map: GROUPS });
  expect(await rolesOf(access_token)).toEqual(['operator', 'operator']);
  expect(await rolesOf(itself)).toEqual(['operator', 'operator']);
  await set({ role_map: { developers: 'admin' } });
  expect(await rolesOf(access_token)).toEqual(['admin', 'admin']);
  expect(await rolesOf(itself)).toEqual(['admin', 'admin']);
  await set({ role_map: {} });
  expect(await rolesOf(access_token)).toEqual([403, 403]);
  expect(await rolesOf(itself)).toEqual([403, 403]);
  await set({ default_role: 'viewer' });
  expect(await rolesOf(access_token)).toEqual(['viewer', 'viewer']);
});

test('the list of users shows the roles of the current mapping, and null for none', async () => {
  await signIn({ sub: 'nora', role: 'viewer', groups: ['developers'] });
  const { id } = await sql.user.findFirstOrThrow({ where: { sub: 'nora' } });
  const shown = async () => (await world.asViewer.get(`/api/v1/users/${id}`)).body.user.role;
  expect(await shown()).toBe('viewer');
  await set({ role_claim: 'groups', role_map: GROUPS });
  expect(await shown()).toBe('operator');
  await set({ role_map: {} });
  expect(await shown()).toBeNull();
});

test('a sign-in without a role is rejected with this reason, and stores nothing', async () => {
  says({ sub: 'otto', role: 'guest' });
  const before = await sql.session.count();
  const { status, body } = await enter();
  expect({ status, code: body.code, detail: body.detail }).toEqual({
    status: 403,
    code: 'insufficient_scope',
    detail: expect.stringContaining('no role'),
  });
  expect(await sql.session.count()).toBe(before);
  expect(await sql.user.count({ where: { sub: 'otto' } })).toBe(0);
});

test('an exchange is rejected with the reason if the user lost their role after the callback', async () => {
  says({ sub: 'paul', role: 'viewer' });
  const browser = newBrowser();
  const back = await enter(browser);
  await set({ role_map: {} });
  const { status, body } = await browser.exchange(back);
  expect({ status, code: body.code }).toEqual({ status: 403, code: 'insufficient_scope' });
});

test('a refresh is rejected if the user lost their role, and so are requests that require it', async () => {
  const { access_token, refresh_token } = await signIn({ sub: 'quinn', role: 'admin' });
  const api = world.other.api(`Bearer ${access_token}`);
  expect((await api.get('/api/v1/audit')).status).toBe(200);
  await set({ role_map: { admin: 'operator' } });
  expect((await api.get('/api/v1/audit')).status).toBe(403);
  await set({ role_map: {} });
  expect((await world.nobody.post('/api/v1/auth/refresh', { refresh_token })).body.code).toBe('insufficient_scope');
});

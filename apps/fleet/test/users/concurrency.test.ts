import type { Passwords } from '../../src/identity/passwords/passwords.ts';
import { LOGIN } from '../auth/sign-in-helpers.ts';
import { PROVIDER, startWorld } from '../world.ts';

const world = await startWorld({ oidc: { issuer: PROVIDER } });
const another = world.aReplica({ oidc: { issuer: PROVIDER } });
afterAll(() => world.stop());

const { asAdmin, aUser } = world;
const ME = '/api/v1/auth/me';
const NEW_PASSWORD = 'nineteen gentle pelicans';
const onBoth = (access_token: string) => [world, another].map(({ api }) => api(`Bearer ${access_token}`));
const change = async (id: string, body: object) =>
  expect((await asAdmin.put(`/api/v1/users/${id}`, body)).status).toBe(200);
const remove = async (id: string) => expect((await asAdmin.delete(`/api/v1/users/${id}`)).status).toBe(204);
const isOver = async ({ access_token, refresh_token }: { access_token: string; refresh_token: string }) => {
  for (const api of onBoth(access_token)) expect((await api.get(ME)).body.code).toBe('invalid_token');
  const refreshed = await another.api().post('/api/v1/auth/refresh', { refresh_token });
  expect(refreshed).toMatchObject({ status: 401, body: { code: 'invalid_grant' } });
};

test('a change of role applies to the next request, on every replica', async () => {
  const user = await aUser('viewer');
  const { access_token } = await user.signIn();
  const statuses = async () =>
    Promise.all(onBoth(access_token).map(async (api) => (await api.get('/api/v1/settings/hub')).status));
  expect(await statuses()).toEqual([403, 403]);
  await change(user.id, { role: 'admin' });
  expect(await statuses()).toEqual([200, 200]);
  await aUser('admin'); // so that the user is not the last admin
  await change(user.id, { role: 'operator' });
  expect(await statuses()).toEqual([403, 403]);
});

test('a removed local user is rejected at the next request, in all sessions', async () => {
  const user = await aUser('operator');
  const sessions = [await user.signIn(), await user.signIn()];
  for (const { access_token } of sessions) {
    for (const api of onBoth(access_token)) expect((await api.get(ME)).status).toBe(200);
  }
  await remove(user.id);
  for (const session of sessions) await isOver(session);
  await expect(user.signIn()).rejects.toThrow('invalid_credentials');
});

test('a removed user of the provider is rejected at the next request', async () => {
  const user = await world.anOidcUser({ role: 'operator' });
  const inSession = await user.api();
  expect((await inSession.get(ME)).body.user).toMatchObject({ kind: 'oidc', id: user.id });
  await remove(user.id);
  expect((await inSession.get(ME)).body.code).toBe('invalid_token');
});

test('a removed user of the provider who is restored has none of the former sessions and tokens', async () => {
  const user = await world.anOidcUser({ role: 'admin' });
  const before = await user.api();
  const { secret } = (await before.post('/api/v1/tokens', { name: 'of before', role: 'viewer' })).body.token;
  await remove(user.id);
  await world.database.client.user.update({ where: { id: user.id }, data: { removed_at: null } });
  expect((await (await user.api()).get(ME)).status).toBe(200);
  expect((await before.get(ME)).body.code).toBe('invalid_token');
  expect((await world.api(`Bearer ${secret}`).get(ME)).body.code).toBe('invalid_token');
});

test('a new password ends all sessions of the user, and replaces the former one', async () => {
  const user = await aUser('viewer');
  const sessions = [await user.signIn(), await user.signIn()];
  await change(user.id, { password: NEW_PASSWORD });
  for (const session of sessions) await isOver(session);
  await expect(user.signIn()).rejects.toThrow('invalid_credentials');
  const answer = await world.nobody.post(LOGIN, { email: user.email, password: NEW_PASSWORD });
  expect(answer.status).toBe(200);
});

test('a new password keeps the sessions of other users, and a new name keeps all sessions', async () => {
  const user = await aUser('viewer');
  const other = await aUser('viewer');
  const mine = await user.api();
  const theirs = await other.api();
  await change(user.id, { name: 'Another', role: 'operator' });
  expect((await mine.get(ME)).body.user.name).toBe('Another');
  await change(user.id, { password: NEW_PASSWORD });
  expect((await theirs.get(ME)).status).toBe(200);
});

describe('during a sign-in', () => {
  /**
   * Signs in, and runs an action once after the password was verified and before the session is
   * opened.
   */
  const signInWhile = (user: { email: string; password: string }, happens: () => Promise<void>) => {
    const left = [happens];
    const passwords: Passwords = {
      ...world.passwords,
      verify: async (...given) => {
        const verified = await world.passwords.verify(...given);
        await left.pop()?.();
        return verified;
      },
    };
    const { email, password } = user;
    return world.aReplica({ passwords }).api().post(LOGIN, { email, password });
  };

  test('a change of the password rejects the former one', async () => {
    const user = await aUser('viewer');
    const { status, body } = await signInWhile(user, () => change(user.id, { password: NEW_PASSWORD }));
    expect({ status, code: body.code }).toEqual({ status: 401, code: 'invalid_credentials' });
  });

  test('a removal rejects the user', async () => {
    const user = await aUser('viewer');
    const { status, body } = await signInWhile(user, () => remove(user.id));
    expect({ status, code: body.code }).toEqual({ status: 401, code: 'invalid_credentials' });
  });

  test('a change of the role applies', async () => {
    const user = await aUser('viewer');
    const { status, body } = await signInWhile(user, () => change(user.id, { role: 'operator' }));
    expect({ status, role: body.user.role }).toEqual({ status: 200, role: 'operator' });
  });
});

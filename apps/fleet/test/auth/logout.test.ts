import { startWorld } from '../world.ts';

const world = await startWorld();
afterAll(() => world.stop());

const LOGOUT = '/api/v1/auth/logout';
const ME = '/api/v1/auth/me';

test('logging out ends the access token at the next request, on every replica', async () => {
  const { access_token } = await world.signIn();
  const me = world.api(`Bearer ${access_token}`);
  const onAnotherReplica = world.aReplica().api(`Bearer ${access_token}`);
  expect((await onAnotherReplica.get(ME)).status).toBe(200);
  expect(await me.post(LOGOUT)).toMatchObject({ status: 204, text: '' });
  expect((await me.get(ME)).body.code).toBe('invalid_token');
  expect((await onAnotherReplica.get(ME)).body.code).toBe('invalid_token');
});

test('logging out ends the refresh token', async () => {
  const { access_token, refresh_token } = await world.signIn();
  await world.api(`Bearer ${access_token}`).post(LOGOUT);
  const { status, body } = await world.nobody.post('/api/v1/auth/refresh', { refresh_token });
  expect([status, body.code]).toEqual([401, 'invalid_grant']);
});

test('logging out ends one session and leaves the others', async () => {
  const [mine, another] = [await world.asTemporaryAdmin(), await world.asTemporaryAdmin()];
  await mine.post(LOGOUT);
  expect((await another.get(ME)).status).toBe(200);
});

test('a second log-out is a request without a session', async () => {
  const me = await world.asTemporaryAdmin();
  await me.post(LOGOUT);
  expect(await me.post(LOGOUT)).toMatchObject({ status: 401, body: { code: 'invalid_token' } });
});

test('a token has no session to end, and goes on working', async () => {
  const { status, body } = await world.asAdmin.post(LOGOUT);
  expect([status, body.code]).toEqual([403, 'insufficient_scope']);
  expect((await world.asAdmin.get(ME)).status).toBe(200);
});

import { meAt } from './browser.ts';
import { createSignal } from './synchronization.ts';
import { startSignInWorld } from './world.ts';

const world = await startSignInWorld();
const { replicas, signIn, accessToken, issuer } = world;
const sql = world.database.client;

const rowOf = (sub: string) => sql.user.findFirstOrThrow({ where: { sub } });
const statuses = async (credential: string) => (await meAt(replicas, credential)).map(({ status }) => status);
const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

async function remove(sub: string) {
  const { id } = await rowOf(sub);
  expect((await world.asAdmin.delete(`/api/v1/users/${id}`)).status).toBe(204);
  return id;
}

test('a removed user is rejected at the next request, on every replica and with each credential', async () => {
  const { access_token, refresh_token } = await signIn({ sub: 'ann', email: 'ann@example.test' });
  const itself = await accessToken({ sub: 'ann', iat: inSeconds(-5) });
  expect(await statuses(access_token)).toEqual([200, 200]);
  expect(await statuses(itself)).toEqual([200, 200]);
  const id = await remove('ann');
  expect(await statuses(access_token)).toEqual([401, 401]);
  expect(await statuses(itself)).toEqual([401, 401]);
  expect((await world.nobody.post('/api/v1/auth/refresh', { refresh_token })).body.code).toBe('invalid_grant');
  expect((await world.asAdmin.get(`/api/v1/users/${id}`)).status).toBe(404);
  const { email, name, removed_at } = await rowOf('ann');
  expect({ email, name }).toEqual({ email: null, name: '' });
  expect(removed_at).not.toBeNull();
});

test('a provider’s token without a time of issue stays rejected after a removal, since it may be older', async () => {
  await signIn({ sub: 'ben' });
  await remove('ben');
  expect(await statuses(await accessToken({ sub: 'ben', iat: undefined }))).toEqual([401, 401]);
});

test('a new sign-in restores a removed user, with new sessions only', async () => {
  const before = await signIn({ sub: 'cid', name: 'Cid', email: 'cid@example.test' });
  const id = await remove('cid');
  const after = await signIn({ sub: 'cid', name: 'Cid', email: 'cid@example.test' });
  expect(await statuses(before.access_token)).toEqual([401, 401]);
  const [me] = await meAt(replicas, after.access_token);
  expect(me?.body.user).toMatchObject({ id, name: 'Cid', email: 'cid@example.test' });
});

test('a token that the provider issued after the removal restores the user', async () => {
  await signIn({ sub: 'dan' });
  const id = await remove('dan');
  await sql.$executeRaw`UPDATE users SET removed_at = removed_at - interval '1 minute' WHERE id = ${id}::uuid`;
  expect(await statuses(await accessToken({ sub: 'dan', iat: inSeconds(-120) }))).toEqual([401, 401]);
  expect(await statuses(await accessToken({ sub: 'dan', iat: inSeconds(0) }))).toEqual([200, 200]);
  expect((await rowOf('dan')).removed_at).toBeNull();
});

test('a token that the provider issued at the moment of the removal stays rejected', async () => {
  await signIn({ sub: 'ivo' });
  const id = await remove('ivo');
  const iat = inSeconds(-10);
  await sql.$executeRaw`UPDATE users SET removed_at = to_timestamp(${iat}) WHERE id = ${id}::uuid`;
  expect(await statuses(await accessToken({ sub: 'ivo', iat }))).toEqual([401, 401]);
  expect(await statuses(await accessToken({ sub: 'ivo', iat: iat + 1 }))).toEqual([200, 200]);
});

test('a blocked user is rejected with an access token of the provider, also with a new one', async () => {
  await signIn({ sub: 'kim' });
  const { id } = await rowOf('kim');
  expect((await world.asAdmin.put(`/api/v1/users/${id}`, { blocked: true })).status).toBe(200);
  for (const { status, body } of await meAt(replicas, await accessToken({ sub: 'kim' }))) {
    expect({ status, code: body.code }).toEqual({ status: 403, code: 'user_blocked' });
  }
});

test('an access token does not change what a sign-in stored of the user', async () => {
  await signIn({ sub: 'jan', name: 'Jan', email: 'jan@example.test' });
  const before = await rowOf('jan');
  expect(await statuses(await accessToken({ sub: 'jan', name: 'Another' }))).toEqual([200, 200]);
  expect(await rowOf('jan')).toEqual(before);
});

test('an exchange code is invalid after the removal of its user', async () => {
  const browser = world.newBrowser();
  world.says({ sub: 'eli', role: 'viewer' });
  const back = await world.enter(browser);
  await remove('eli');
  expect((await browser.exchange(back)).body.code).toBe('invalid_grant');
});

test('a concurrent check of the session of a removed user does not restore the user', async () => {
  await signIn({ sub: 'fay', name: 'Fay' });
  const { id } = await rowOf('fay');
  await sql.$executeRaw`UPDATE sessions SET provider_at = now() - interval '1 second' WHERE user_id = ${id}::uuid`;
  const asked = createSignal();
  const answered = createSignal();
  issuer.bend('/token', async () => {
    asked.come();
    await answered.came;
    return issuer.tokens({ id_token: await issuer.idToken({ sub: 'fay', role: 'admin', nonce: undefined }) });
  });
  const checking = world.one.checks.runDue();
  await asked.came;
  await remove('fay');
  answered.come();
  expect(await checking).toBe(1);
  expect(await rowOf('fay')).toMatchObject({ name: '', email: null, removed_at: expect.any(Date) });
  const open = await sql.session.count({ where: { user_id: id, ended_at: null } });
  expect(open).toBe(0);
  expect(await world.other.checks.runDue()).toBe(0);
});

test('the removal of a local user does not affect a user of the provider with the same e-mail address', async () => {
  const local = await world.aUser('viewer', { email: 'gus@example.test' });
  const { access_token } = await signIn({ sub: 'gus', email: 'gus@example.test' });
  expect((await world.asAdmin.delete(`/api/v1/users/${local.id}`)).status).toBe(204);
  expect(await statuses(access_token)).toEqual([200, 200]);
});

import { meAt } from './browser.ts';
import { startSignInWorld } from './world.ts';

const world = await startSignInWorld();
const { issuer, one, other, replicas, signIn, accessToken, enter } = world;
const sql = world.database.client;

const statuses = async (credential: string) => (await meAt(replicas, credential)).map(({ status }) => status);
const minutesPass = (minutes: number) => sql.$executeRaw`
  UPDATE sessions SET provider_at = provider_at - make_interval(mins => ${minutes}::int),
    expires_at = expires_at - make_interval(mins => ${minutes}::int)`;

afterEach(async () => {
  await sql.session.deleteMany();
});

test('during an outage of the provider of one hour, sessions continue, and tokens with known keys are accepted', async () => {
  const session = await signIn();
  const itself = await accessToken();
  expect(await statuses(itself)).toEqual([200, 200]);
  await issuer.stopListening();
  let { access_token, refresh_token } = session;
  for (let passed = 0; passed < 60; passed += 10) {
    await minutesPass(10);
    await Promise.all([one.checks.runDue(), other.checks.runDue()]);
    const refreshed = await world.nobody.post('/api/v1/auth/refresh', { refresh_token });
    expect(refreshed.status).toBe(200);
    ({ access_token, refresh_token } = refreshed.body);
    expect(await statuses(access_token)).toEqual([200, 200]);
    expect(await statuses(itself)).toEqual([200, 200]);
  }
  await issuer.startListening();
  await minutesPass(15);
  expect(await one.checks.runDue()).toBe(1);
  const { expires_at } = await sql.session.findFirstOrThrow();
  expect(expires_at.getTime()).toBeGreaterThan(Date.now() + 23.5 * 3_600_000);
});

test('an outage of the provider of one day ends sessions, and the end of the outage does not', async () => {
  const { access_token, refresh_token } = await signIn();
  await issuer.stopListening();
  await minutesPass(23 * 60 + 50);
  await one.checks.runDue();
  expect(await statuses(access_token)).toEqual([200, 200]);
  await minutesPass(10);
  expect(await statuses(access_token)).toEqual([401, 401]);
  expect((await world.nobody.post('/api/v1/auth/refresh', { refresh_token })).body.code).toBe('invalid_grant');
  await issuer.startListening();
  expect(await other.checks.runDue()).toBe(0);
  expect(await statuses(access_token)).toEqual([401, 401]);
});

test('rotated keys apply at first use: for sign-ins, checks and tokens of the provider', async () => {
  await signIn();
  expect(await statuses(await accessToken())).toEqual([200, 200]);
  await issuer.rotate();
  expect(await statuses(await accessToken())).toEqual([200, 200]);
  expect((await enter()).status).toBe(302);
  await minutesPass(15);
  issuer.bend('/token', async () =>
    issuer.tokens({ id_token: await issuer.idToken({ nonce: undefined, role: 'admin', name: 'by the new key' }) }),
  );
  await one.checks.runDue();
  expect((await sql.user.findFirstOrThrow({ where: { sub: 'ada' } })).name).toBe('by the new key');
});

test('a token whose key cannot be fetched is answered 503, and is accepted once the provider is reachable', async () => {
  const fresh = world.aReplica();
  const itself = await accessToken();
  await issuer.stopListening();
  const away = await fresh.api(`Bearer ${itself}`).get('/api/v1/auth/me');
  expect(away).toMatchObject({ status: 503, body: { code: 'unavailable' }, headers: { 'retry-after': '1' } });
  expect((await fresh.api(`Bearer ${(await world.aToken()).secret}`).get('/api/v1/auth/me')).status).toBe(200);
  await issuer.startListening();
  expect((await fresh.api(`Bearer ${itself}`).get('/api/v1/auth/me')).status).toBe(200);
});

test('during an outage of the provider, tokens that it never issued are rejected at once', async () => {
  const { access_token } = await signIn();
  await sql.session.deleteMany();
  const anothers = await accessToken({ iss: 'https://other.example.test' });
  const fresh = world.aReplica();
  await issuer.stopListening();
  for (const credential of [access_token, anothers, 'x.y.z'])
    expect((await fresh.api(`Bearer ${credential}`).get('/api/v1/auth/me')).status).toBe(401);
  await issuer.startListening();
});

import { DISCOVERY } from '../oidc/bendable-issuer.ts';
import { FRONTEND, SHORT_TIMEOUT_MS } from '../world.ts';
import { LOGIN, meAt } from './browser.ts';
import { startSignInWorld } from './world.ts';

const world = await startSignInWorld();
const { issuer, newBrowser, backFrom, says, signIn } = world;
const sql = world.database.client;
const FRONTEND_TOKEN = '/api/v1/auth/oidc/token';

const notNow = {
  status: 503,
  body: { code: 'unavailable' },
  headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
};
const stored = async () => ({
  users: await sql.user.count(),
  sessions: await sql.session.count(),
  codes: await sql.signInCode.count(),
  signIns: await sql.signInTransaction.count(),
});

beforeEach(() => says({ role: 'operator' }));

/** Replicas without cached metadata and keys of the provider. */
const freshBrowser = () => newBrowser([world.aReplica(), world.aReplica()]);

test('while the provider is unreachable no sign-in starts, and none is stored', async () => {
  await issuer.stopListening();
  const before = await stored();
  for (const browser of [freshBrowser(), freshBrowser()]) expect(await browser.get(LOGIN)).toMatchObject(notNow);
  expect(await stored()).toEqual(before);
  await issuer.startListening();
  expect((await freshBrowser().get(LOGIN)).status).toBe(302);
});

test.each([
  ['not JSON', { body: '<html>maintenance</html>', headers: { 'Content-Type': 'text/html' } }],
  ['those of another issuer', { body: { ...issuer.metadata, issuer: 'https://other.example.test' } }],
  ['500', { status: 500 }],
  ['a redirect', { status: 302, headers: { Location: 'https://elsewhere.example.test' } }],
])('no sign-in starts at a provider whose metadata are %s', async (_, reply) => {
  issuer.bend(DISCOVERY, () => reply);
  const before = await stored();
  expect(await freshBrowser().get(LOGIN)).toMatchObject(notNow);
  expect(await stored()).toEqual(before);
});

test.each([
  ['/token', { status: 503 }],
  ['/token', { status: 200, body: 'no JSON' }],
  ['/token', { status: 400, body: { error: 'invalid_client' } }],
  ['/keys', { status: 500 }],
  ['/keys', { body: { keys: [] } }],
])('if %s of the provider answers %j, sign-ins fail, and are not rejected for good', async (path, reply) => {
  const browser = freshBrowser();
  const query = backFrom(await browser.begin());
  issuer.bend(path, () => reply);
  const { signIns: _, ...before } = await stored();
  expect(await browser.openCallback(query)).toMatchObject(notNow);
  expect(await stored()).toMatchObject(before);
  const code = { code: 'a-code', code_verifier: 'v'.repeat(43), redirect_uri: `${FRONTEND}/callback` };
  expect(
    await world
      .aReplica()
      .api()
      .post(FRONTEND_TOKEN, { ...code, nonce: issuer.nonce }),
  ).toMatchObject(notNow);
  expect(await stored()).toMatchObject(before);
});

test('a sign-in at a provider that does not answer times out, and the replica serves other requests', async () => {
  const browser = newBrowser([world.aReplica(), world.aReplica({ outboundTimeoutMs: SHORT_TIMEOUT_MS })]);
  const query = backFrom(await browser.begin());
  issuer.bend('/token', () => 'silence');
  const [answer, alive] = await Promise.all([browser.openCallback(query), world.asAdmin.get('/api/v1/auth/me')]);
  expect(answer).toMatchObject(notNow);
  expect(alive.status).toBe(200);
});

test('no database transaction is open during a request to the provider', async () => {
  const waiting: number[] = [];
  const look = async () => {
    const [row] = await sql.$queryRaw<{ count: number }[]>`
      SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'`;
    waiting.push(row?.count ?? -1);
  };
  issuer.bend(DISCOVERY, async () => {
    await look();
    return { body: issuer.metadata };
  });
  issuer.bend('/token', async () => {
    await look();
    return issuer.tokens({ id_token: await issuer.idToken({ role: 'viewer' }) });
  });
  const browser = freshBrowser();
  expect((await browser.openCallback(backFrom(await browser.begin()))).status).toBe(302);
  expect(waiting.length).toBeGreaterThanOrEqual(3);
  expect(waiting).toEqual(waiting.map(() => 0));
});

test('a callback during an outage of the provider fails, and a new sign-in succeeds afterwards', async () => {
  const browser = newBrowser([world.aReplica()]);
  const query = backFrom(await browser.begin());
  await issuer.stopListening();
  expect(await browser.openCallback(query)).toMatchObject(notNow);
  await issuer.startListening();
  expect((await browser.openCallback(query)).status).toBe(401); // the code was consumed
  expect((await browser.openCallback(backFrom(await browser.begin()))).status).toBe(302);
});

test('a user with an exchange code signs in during an outage of the provider, and the session continues', async () => {
  const browser = freshBrowser();
  const back = await browser.openCallback(backFrom(await browser.begin()));
  await issuer.stopListening();
  const { status, body } = await browser.exchange(back);
  expect(status).toBe(200);
  const refreshed = await world.nobody.post('/api/v1/auth/refresh', { refresh_token: body.refresh_token });
  for (const me of await meAt(world.replicas, refreshed.body.access_token)) expect(me.body.user.role).toBe('operator');
  await issuer.startListening();
});

test('a code without a subject leaves nothing in the database', async () => {
  const before = await stored();
  await expect(signIn({ sub: '' })).rejects.toThrow('401');
  expect(await stored()).toMatchObject({ users: before.users, sessions: before.sessions, codes: before.codes });
});

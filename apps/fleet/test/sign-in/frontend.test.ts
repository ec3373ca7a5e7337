import { createHash, randomBytes } from 'node:crypto';
import { meAt } from './browser.ts';
import { APP, startDevelopmentWorld } from './development.ts';

const world = await startDevelopmentWorld();
const { replicas, fillIn, issuer, metadata } = world;
const sql = world.database.client;
const TOKEN = '/api/v1/auth/oidc/token';

const random = () => randomBytes(32).toString('base64url');

/** What a frontend has after its own redirect to the provider and back. */
async function aFrontend(email = 'operator@example.test') {
  const [code_verifier, nonce] = [random(), random()];
  const { body: config } = await world.nobody.get('/api/v1/auth/config');
  const address = new URL(metadata.authorization_endpoint);
  address.search = new URLSearchParams({
    response_type: 'code',
    client_id: config.oidc.client_id,
    redirect_uri: APP,
    scope: 'openid email profile offline_access',
    nonce,
    state: random(),
    code_challenge: createHash('sha256').update(code_verifier).digest('base64url'),
    code_challenge_method: 'S256',
  }).toString();
  const { code = '', iss = '' } = await fillIn(address, email, APP);
  return { code, code_verifier, redirect_uri: APP, nonce, iss };
}

const post = (body: object, at = 0) => (replicas[at] ?? replicas[0]).api().post(TOKEN, body);
const refused = { status: 401, body: { code: 'invalid_grant' } };

test('a frontend learns of the fleet where to go', async () => {
  expect((await world.nobody.get('/api/v1/auth/config')).body.oidc).toEqual({
    issuer,
    client_id: 'fleet',
    audience: 'https://fleet.example.test',
    redirect: true,
  });
});

test.each([
  ['with its nonce and the issuer that it was told', []],
  ['with its nonce alone', ['iss']],
] as [string, string[]][])('a frontend hands over its code %s, and has tokens of the fleet', async (_, without) => {
  const given = Object.entries(await aFrontend()).filter(([name]) => !without.includes(name));
  const { status, body, headers } = await post(Object.fromEntries(given), 1);
  expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
  expect(body.user).toMatchObject({ kind: 'oidc', name: 'Olga Operator', role: 'operator' });
  for (const me of await meAt(replicas, body.access_token)) expect(me.body.user.email).toBe('operator@example.test');
});

test('the code is good once, on all replicas together', async () => {
  const given = await aFrontend();
  const statuses = (await Promise.all(replicas.map((_, at) => post(given, at)))).map(({ status }) => status);
  expect(statuses.sort()).toEqual([200, 401]);
  expect(await post(given)).toMatchObject(refused);
});

test.each([
  ['another verifier', { code_verifier: 'v'.repeat(43) }],
  ['another nonce', { nonce: 'another' }],
  ['another issuer: a mix-up', { iss: 'https://other.example.test' }],
  ['a code that never was one', { code: 'x'.repeat(43) }],
  ['the redirect URI of another of our pages', { redirect_uri: 'http://127.0.0.1:4200/api/v1/auth/oidc/callback' }],
])('%s is refused, and nobody comes in', async (_, changed) => {
  const before = [await sql.session.count(), await sql.user.count()];
  expect(await post({ ...(await aFrontend('user@example.test')), ...changed })).toMatchObject(refused);
  expect([await sql.session.count(), await sql.user.count()]).toEqual(before);
});

test('a code whose sign-in had a nonce is refused without it', async () => {
  const { nonce: _, ...given } = await aFrontend();
  expect(await post(given)).toMatchObject(refused);
});

test.each([
  'https://evil.example.test/callback',
  'http://127.0.0.1:4200@evil.example.test/callback',
  'http://127.0.0.1:4201/callback',
  'https://127.0.0.1:4200/callback',
  'http://frontend.example.test.evil.example.test/callback',
  'javascript:alert(1)',
  'callback',
])('a code for %s is a stranger’s, and never redeemed', async (redirect_uri) => {
  const given = await aFrontend();
  const { status, body } = await post({ ...given, redirect_uri });
  expect([status, body.errors?.[0]?.path]).toEqual([400, 'redirect_uri']);
  expect((await post(given)).status).toBe(200);
});

test.each([
  ['too short a verifier', { code_verifier: 'v'.repeat(42) }, 'code_verifier'],
  ['no verifier', { code_verifier: undefined }, 'code_verifier'],
  ['no code', { code: undefined }, 'code'],
  ['a member that is not known', { client_secret: 'x' }, 'client_secret'],
])('%s is said, before the code is used up', async (_, changed, path) => {
  const given = await aFrontend();
  const { status, body } = await post({ ...given, ...changed });
  expect([status, body.errors?.[0]?.path]).toEqual([400, path]);
  expect((await post(given)).status).toBe(200);
});

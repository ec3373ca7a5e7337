import { createHash, randomBytes } from 'node:crypto';
import { meAt } from './browser.ts';
import { APP, startDevelopmentWorld } from './development.ts';

const world = await startDevelopmentWorld();
const { replicas, fillIn, issuer, metadata } = world;
const sql = world.database.client;
const TOKEN = '/api/v1/auth/oidc/token';

const random = () => randomBytes(32).toString('base64url');

/** The data of a frontend after its own redirect to the provider and back. */
async function aFrontend(email = 'operator@example.test') {
  const code_verifier = random();
  const nonce = random();
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

test('a frontend can read the provider’s settings for its redirect from the fleet', async () => {
  expect((await world.nobody.get('/api/v1/auth/config')).body.oidc).toEqual({
    issuer,
    client_id: 'fleet',
    audience: 'https://fleet.example.test',
    redirect: true,
  });
});

test.each([
  ['with its nonce and the issuer of the callback', []],
  ['with its nonce only', ['iss']],
] as [string, string[]][])('a frontend exchanges its code %s for tokens of the fleet', async (_, without) => {
  const given = Object.entries(await aFrontend()).filter(([name]) => !without.includes(name));
  const { status, body, headers } = await post(Object.fromEntries(given), 1);
  expect(status).toBe(200);
  expect(headers['cache-control']).toBe('no-store');
  expect(body.user).toMatchObject({ kind: 'oidc', name: 'Olga Operator', role: 'operator' });
  for (const me of await meAt(replicas, body.access_token)) expect(me.body.user.email).toBe('operator@example.test');
});

test('the code of a frontend is valid once across all replicas', async () => {
  const given = await aFrontend();
  const statuses = (await Promise.all(replicas.map((_, at) => post(given, at)))).map(({ status }) => status);
  expect(statuses.sort()).toEqual([200, 401]);
  expect(await post(given)).toMatchObject(refused);
});

test.each([
  ['another verifier', { code_verifier: 'v'.repeat(43) }],
  ['another nonce', { nonce: 'another' }],
  ['another issuer: a mix-up', { iss: 'https://other.example.test' }],
  ['an unknown code', { code: 'x'.repeat(43) }],
  [
    'the redirect URI of another page of the fleet',
    { redirect_uri: 'http://127.0.0.1:4200/api/v1/auth/oidc/callback' },
  ],
])('a code exchange with %s is rejected', async (_, changed) => {
  const sessions = await sql.session.count();
  const users = await sql.user.count();
  expect(await post({ ...(await aFrontend('user@example.test')), ...changed })).toMatchObject(refused);
  expect(await sql.session.count()).toBe(sessions);
  expect(await sql.user.count()).toBe(users);
});

test('a code whose sign-in had a nonce is rejected without the nonce', async () => {
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
])('a code for the unknown redirect URI %s is rejected, and never redeemed', async (redirect_uri) => {
  const given = await aFrontend();
  const { status, body } = await post({ ...given, redirect_uri });
  expect({ status, path: body.errors?.[0]?.path }).toEqual({ status: 400, path: 'redirect_uri' });
  expect((await post(given)).status).toBe(200);
});

test.each([
  ['a verifier that is too short', { code_verifier: 'v'.repeat(42) }, 'code_verifier'],
  ['no verifier', { code_verifier: undefined }, 'code_verifier'],
  ['no code', { code: undefined }, 'code'],
  ['an unknown member', { client_secret: 'x' }, 'client_secret'],
])('a code exchange with %s is a 400 that does not consume the code', async (_, changed, path) => {
  const given = await aFrontend();
  const { status, body } = await post({ ...given, ...changed });
  expect({ status, path: body.errors?.[0]?.path }).toEqual({ status: 400, path });
  expect((await post(given)).status).toBe(200);
});

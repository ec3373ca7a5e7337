import { createHash, randomBytes } from 'node:crypto';
import { signIn as signInAtProvider } from '@svc/identity-provider/sign-in';
import { messagesTo } from '../mcp/client.ts';
import { listen } from '../raw.ts';
import { meAt } from './browser.ts';
import { APP, AUDIENCE, MCP, startDevelopmentWorld } from './development.ts';

const world = await startDevelopmentWorld();
const { replicas, issuer, metadata, fillIn } = world;
const sql = world.database.client;
const PASSWORD = 'development';

/** Tokens of the provider for its own dashboard. */
const tokensFor = (email: string, resource?: string) =>
  signInAtProvider({ issuer, email, password: PASSWORD, redirectUri: APP, ...(resource ? { resource } : {}) });

/**
 * Tokens of the provider for the client of the fleet, without a resource: the access token is
 * opaque.
 */
async function tokensOfFleet(email: string) {
  const code_verifier = randomBytes(32).toString('base64url');
  const address = new URL(metadata.authorization_endpoint);
  address.search = new URLSearchParams({
    response_type: 'code',
    client_id: 'fleet',
    redirect_uri: APP,
    scope: 'openid email profile offline_access',
    state: 'any',
    code_challenge: createHash('sha256').update(code_verifier).digest('base64url'),
    code_challenge_method: 'S256',
  }).toString();
  const { code = '' } = await fillIn(address, email, APP);
  const answer = await world.redeemAsFleet({ code, code_verifier, redirect_uri: APP });
  const { access_token = '', refresh_token = '', id_token = '' } = answer;
  return { access_token, refresh_token, id_token };
}

/** All replicas must respond alike. */
async function meWith(credential: string) {
  const [first, ...others] = await meAt(replicas, credential);
  for (const other of others) expect(other.status).toBe(first?.status);
  return first;
}

const refused = { status: 401, body: { code: 'invalid_token' } };

test('a JWT of the provider for this fleet is a credential, and its bearer has one user with the claims', async () => {
  const { accessToken } = await tokensFor('operator@example.test', AUDIENCE);
  const me = await meWith(accessToken);
  expect(me).toMatchObject({
    status: 200,
    body: { user: { kind: 'oidc', name: 'Olga Operator', email: 'operator@example.test', role: 'operator' } },
  });
  const users = await sql.user.findMany({ where: { sub: 'dev-operator' } });
  expect(users).toHaveLength(1);
  expect(users[0]).toMatchObject({ iss: issuer, source: 'oidc', claims: { role: 'operator', sub: 'dev-operator' } });
  expect(me?.body.user.id).toBe(users[0]?.id);
});

test('an opaque access token for this client is verified at the provider', async () => {
  const { access_token } = await tokensOfFleet('admin@example.test');
  expect(access_token).not.toContain('.');
  expect(await meWith(access_token)).toMatchObject({
    status: 200,
    body: { user: { name: 'Ada Admin', role: 'admin' } },
  });
});

test('a credential that is not an access token for this fleet is rejected', async () => {
  const ofFleet = await tokensOfFleet('user@example.test');
  const ofDashboard = await tokensFor('user@example.test');
  expect(await meWith(ofFleet.id_token)).toMatchObject(refused);
  expect(await meWith(ofFleet.refresh_token)).toMatchObject(refused);
  expect(await meWith(ofDashboard.idToken ?? '')).toMatchObject(refused);
  // Opaque, for another client.
  expect(await meWith(ofDashboard.accessToken)).toMatchObject(refused);
  expect(await meWith('x'.repeat(43))).toMatchObject(refused);
  expect(await sql.user.count({ where: { sub: 'dev-user' } })).toBe(0);
});

test('an opaque token that was revoked at the provider is rejected by a replica that has not cached it', async () => {
  const { access_token } = await tokensOfFleet('admin@example.test');
  expect((await replicas[0].api(`Bearer ${access_token}`).get('/api/v1/auth/me')).status).toBe(200);
  const revoked = await world.askAsFleet(metadata.revocation_endpoint, { token: access_token });
  expect(revoked.status).toBe(200);
  expect((await replicas[1].api(`Bearer ${access_token}`).get('/api/v1/auth/me')).status).toBe(401);
});

test('a JWT with a changed payload is rejected', async () => {
  const { accessToken } = await tokensFor('user@example.test', AUDIENCE);
  const [header, payload = '', signature] = accessToken.split('.');
  const changed = { ...JSON.parse(Buffer.from(payload, 'base64url').toString()), role: 'admin' };
  const forged = [header, Buffer.from(JSON.stringify(changed)).toString('base64url'), signature].join('.');
  expect(await meWith(forged)).toMatchObject(refused);
});

test('an access token of the provider opens no session: log-out and refresh do not apply', async () => {
  const { accessToken } = await tokensFor('user@example.test', AUDIENCE);
  const api = replicas[0].api(`Bearer ${accessToken}`);
  expect((await api.get('/api/v1/auth/me')).status).toBe(200);
  expect(await sql.session.count()).toBe(0);
  expect((await api.post('/api/v1/auth/logout')).status).toBe(403);
  expect((await world.nobody.post('/api/v1/auth/refresh', { refresh_token: accessToken })).status).toBe(401);
});

test('an access token for the MCP endpoint is valid there, and nowhere else', async () => {
  const { accessToken } = await tokensFor('admin@example.test', MCP);
  const as = world.api(`Bearer ${accessToken}`);
  expect(await meWith(accessToken)).toMatchObject(refused);
  expect(await as.post('/api/v1/tokens', { name: 'permanent', role: 'admin' })).toMatchObject(refused);
  const fleet = await listen(replicas[0].app);
  const { request } = messagesTo(fleet.url);
  expect((await request('tools/list', {}, { token: accessToken })).status).toBe(200);
  const ofApi = await tokensFor('admin@example.test', AUDIENCE);
  expect((await request('tools/list', {}, { token: ofApi.accessToken })).status).toBe(200);
  await fleet.close();
});

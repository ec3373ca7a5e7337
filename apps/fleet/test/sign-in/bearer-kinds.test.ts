import { newSecretToken } from '@svc/auth';
import { CLIENT, type Members } from '../oidc/bendable-issuer.ts';
import { aSigner, signBySecret, unsigned } from '../oidc/signer.ts';
import { meAt } from './browser.ts';
import { AUDIENCE, SECRET, startSignInWorld } from './world.ts';

const world = await startSignInWorld();
const { issuer, replicas, accessToken } = world;
const sql = world.database.client;

const SETTINGS = '/api/v1/settings/oidc';
afterEach(async () => {
  await world.asAdmin.delete(SETTINGS);
});

let tokens = 0;
const anOpaqueToken = () => `opaque-token-${++tokens}`;
const statusesOf = async (credential: string, at = replicas as readonly (typeof replicas)[0][]) => {
  const answers = await meAt(at, credential);
  return answers.map(({ status, body }) => (status === 200 ? body.user.role : status));
};

const active = { active: true, token_type: 'Bearer', sub: 'ada', client_id: CLIENT, role: 'operator' };

test.each<[string, Members, string | number]>([
  ['active, for the client of the fleet', {}, 'operator'],
  ['active, for the configured audience', { aud: AUDIENCE, client_id: 'another' }, 'operator'],
  ['not active', { active: false }, 401],
  ['of another client', { client_id: 'another' }, 401],
  ['for another audience', { aud: ['https://other.example.test'] }, 401],
  ['of another issuer', { iss: 'https://other.example.test' }, 401],
  ['expired', { exp: 1 }, 401],
  ['a refresh token', { token_type: 'refresh_token' }, 401],
  ['without a subject', { sub: undefined }, 401],
  ['of a user without a role', { role: 'guest' }, 403],
])('an opaque token is accepted or rejected as introspection states: %s', async (_, changed, wanted) => {
  issuer.bend('/introspect', () => ({ body: { ...active, ...changed } }));
  expect(await statusesOf(anOpaqueToken())).toEqual([wanted, wanted]);
});

test('introspection requests are authenticated by the client, with the token in the form', async () => {
  issuer.bend('/introspect', () => ({ body: active }));
  const token = anOpaqueToken();
  await statusesOf(token);
  const { form, authorization } = issuer.lastAt('/introspect') ?? {};
  expect(form?.get('token')).toBe(token);
  const proof = Buffer.from(authorization?.replace('Basic ', '') ?? '', 'base64').toString();
  // The client authentication of RFC 6749, section 2.3.1.
  expect(proof).toBe('fleet:the+secret+of+the+fleet%3A+%2B%2F%25');
});

test('while introspection is unreachable an opaque token is answered 503, and sessions continue', async () => {
  const { access_token } = await world.signIn();
  issuer.bend('/introspect', () => ({ status: 500 }));
  expect(await statusesOf(anOpaqueToken())).toEqual([503, 503]);
  expect(await statusesOf(access_token)).toEqual(['operator', 'operator']);
});

test('userinfo verifies an opaque token only if the settings allow it, on every replica at once', async () => {
  issuer.bendMetadata({ introspection_endpoint: undefined });
  issuer.bend('/userinfo', () => ({ body: { sub: 'ada', role: 'viewer' } }));
  const fresh = [world.aReplica(), world.aReplica()];
  const before = issuer.countOf('/userinfo');
  expect(await statusesOf(anOpaqueToken(), fresh)).toEqual([401, 401]);
  expect(issuer.countOf('/userinfo')).toBe(before);
  expect((await world.asAdmin.put(SETTINGS, { allow_userinfo: true })).status).toBe(200);
  expect(await statusesOf(anOpaqueToken(), fresh)).toEqual(['viewer', 'viewer']);
  await world.asAdmin.put(SETTINGS, { allow_userinfo: false });
  expect(await statusesOf(anOpaqueToken(), fresh)).toEqual([401, 401]);
});

test('without a client secret, no introspection is requested for an opaque token', async () => {
  await world.asAdmin.put(SETTINGS, { client_secret: null });
  const before = issuer.countOf('/introspect');
  expect(await statusesOf(anOpaqueToken())).toEqual([401, 401]);
  expect(issuer.countOf('/introspect')).toBe(before);
});

const stranger = await aSigner('first');
const person = { iss: issuer.url, aud: AUDIENCE, sub: 'ada', role: 'admin' };
const BAD_JWTS: [string, () => Promise<string> | string][] = [
  ['for another audience', () => accessToken({ aud: 'https://other.example.test' })],
  ['for no audience', () => accessToken({ aud: undefined })],
  ['an ID token', () => issuer.idToken({ role: 'admin' })],
  ['expired', () => accessToken({ exp: 1 })],
  ['without an expiry', () => accessToken({ exp: undefined })],
  ['of another issuer', () => accessToken({ iss: 'https://other.example.test' })],
  ['without a subject', () => accessToken({ sub: undefined })],
  ['not signed', () => unsigned(person)],
  ['signed with another key with the same ID', () => stranger.sign(person, { typ: 'at+jwt' })],
  ['signed with the client secret', () => signBySecret(SECRET, person, { kid: 'first', typ: 'at+jwt' })],
];

test.each(BAD_JWTS)('a JWT that is %s is rejected, and adds no user', async (_, make) => {
  const before = await sql.user.count();
  expect(await statusesOf(await make())).toEqual([401, 401]);
  expect(await sql.user.count()).toBe(before);
});

test('a configured audience applies at once, and without one no JWT of the provider is accepted', async () => {
  const token = await accessToken();
  expect(await statusesOf(token)).toEqual(['operator', 'operator']);
  await world.asAdmin.put(SETTINGS, { audience: null });
  expect(await statusesOf(token)).toEqual([401, 401]);
  await world.asAdmin.put(SETTINGS, { audience: 'https://other.example.test' });
  expect(await statusesOf(token)).toEqual([401, 401]);
  expect(await statusesOf(await accessToken({ aud: 'https://other.example.test' }))).toEqual(['operator', 'operator']);
});

test('a rejected token is not treated as anonymous: it is rejected also on public paths', async () => {
  const answer = await world.one.api(`Bearer ${await accessToken({ exp: 1 })}`).get('/api/v1/auth/config');
  expect(answer).toMatchObject({ status: 401, body: { code: 'invalid_token' } });
  expect(answer.headers['www-authenticate']).toContain('error="invalid_token"');
});

test('only tokens that can be of the provider are sent to it', async () => {
  issuer.bend('/introspect', () => ({ body: active }));
  const fresh = [world.aReplica()]; // has no keys of the provider yet
  const asked = () => ['/introspect', '/keys'].map((path) => issuer.countOf(path));
  const before = asked();
  const ofHub = newSecretToken('svcc_');
  const ofProgram = newSecretToken('svcu_');
  const ofPublisher = newSecretToken('svcs_');
  const ofFleet = newSecretToken('svcm_');
  const ofAnother = await stranger.sign({ ...person, iss: 'https://other.example.test' }, { typ: 'at+jwt' });
  for (const token of [ofHub, ofProgram, ofPublisher, ofFleet, ofAnother]) {
    expect(await statusesOf(token, fresh)).toEqual([401]);
  }
  expect(asked()).toEqual(before);
  await statusesOf(await accessToken(), fresh);
  await statusesOf(anOpaqueToken(), fresh);
  expect(asked()).toEqual(before.map((count) => count + 1));
});

test('a token of the provider that is valid for too long is rejected with the limit', async () => {
  const exp = Math.floor(Date.now() / 1000) + 25 * 3600;
  for (const { status, body } of await meAt(replicas, await accessToken({ exp }))) {
    expect({ status, detail: body.detail }).toEqual({
      status: 401,
      detail: expect.stringMatching(/OIDC_MAX_TOKEN_HOURS/),
    });
  }
});

test('a service token of a hub is rejected, and the response states where it is valid', async () => {
  for (const { status, body } of await meAt(replicas, newSecretToken('svcs_'))) {
    expect({ status, code: body.code }).toEqual({ status: 401, code: 'invalid_token' });
    expect(body.detail).toMatch(/^This is a service token of a hub, which is valid only at \/api\/v1\/publish/);
  }
});

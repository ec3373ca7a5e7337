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
const outcome = async (credential: string, at = replicas as readonly (typeof replicas)[0][]) => {
  const answers = await meAt(at, credential);
  return answers.map(({ status, body }) => (status === 200 ? body.user.role : status));
};

const active = { active: true, token_type: 'Bearer', sub: 'ada', client_id: CLIENT, role: 'operator' };

test.each<[string, Members, string | number]>([
  ['active and ours', {}, 'operator'],
  ['for our audience', { aud: AUDIENCE, client_id: 'another' }, 'operator'],
  ['not active', { active: false }, 401],
  ['another client’s', { client_id: 'another' }, 401],
  ['for another audience', { aud: ['https://other.example.test'] }, 401],
  ['another issuer’s', { iss: 'https://other.example.test' }, 401],
  ['over', { exp: 1 }, 401],
  ['a refresh token', { token_type: 'refresh_token' }, 401],
  ['nobody’s', { sub: undefined }, 401],
  ['somebody’s without a role here', { role: 'guest' }, 403],
])('an opaque token that introspection calls %s', async (_, changed, wanted) => {
  issuer.bend('/introspect', () => ({ body: { ...active, ...changed } }));
  expect(await outcome(anOpaqueToken())).toEqual([wanted, wanted]);
});

test('introspection is asked by who can prove itself, with the token in the form', async () => {
  issuer.bend('/introspect', () => ({ body: active }));
  const token = anOpaqueToken();
  await outcome(token);
  const { form, authorization } = issuer.lastAt('/introspect') ?? {};
  expect(form?.get('token')).toBe(token);
  const proof = Buffer.from(authorization?.replace('Basic ', '') ?? '', 'base64').toString();
  expect(proof).toBe('fleet:the+secret+of+the+fleet%3A+%2B%2F%25'); // RFC 6749, section 2.3.1
});

test('while introspection is away an opaque token is answered 503, a session goes on', async () => {
  const { access_token } = await world.signIn();
  issuer.bend('/introspect', () => ({ status: 500 }));
  expect(await outcome(anOpaqueToken())).toEqual([503, 503]);
  expect(await outcome(access_token)).toEqual(['operator', 'operator']);
});

test('userinfo proves an opaque token only where the settings allow it, on every replica at once', async () => {
  issuer.bendMetadata({ introspection_endpoint: undefined });
  issuer.bend('/userinfo', () => ({ body: { sub: 'ada', role: 'viewer' } }));
  const fresh = [world.aReplica(), world.aReplica()];
  const before = issuer.countOf('/userinfo');
  expect(await outcome(anOpaqueToken(), fresh)).toEqual([401, 401]);
  expect(issuer.countOf('/userinfo')).toBe(before);
  expect((await world.asAdmin.put(SETTINGS, { allow_userinfo: true })).status).toBe(200);
  expect(await outcome(anOpaqueToken(), fresh)).toEqual(['viewer', 'viewer']);
  await world.asAdmin.put(SETTINGS, { allow_userinfo: false });
  expect(await outcome(anOpaqueToken(), fresh)).toEqual([401, 401]);
});

test('an opaque token is not asked about without a client secret', async () => {
  await world.asAdmin.put(SETTINGS, { client_secret: null });
  const before = issuer.countOf('/introspect');
  expect(await outcome(anOpaqueToken())).toEqual([401, 401]);
  expect(issuer.countOf('/introspect')).toBe(before);
});

const stranger = await aSigner('first');
const person = { iss: issuer.url, aud: AUDIENCE, sub: 'ada', role: 'admin' };
const BAD_JWTS: [string, () => Promise<string> | string][] = [
  ['for another audience', () => accessToken({ aud: 'https://other.example.test' })],
  ['for no audience', () => accessToken({ aud: undefined })],
  ['an ID token', () => issuer.idToken({ role: 'admin' })],
  ['over', () => accessToken({ exp: 1 })],
  ['without an end', () => accessToken({ exp: undefined })],
  ['another issuer’s', () => accessToken({ iss: 'https://other.example.test' })],
  ['nobody’s', () => accessToken({ sub: undefined })],
  ['not signed', () => unsigned(person)],
  ['signed by a stranger with the same key id', () => stranger.sign(person, { typ: 'at+jwt' })],
  ['signed with the client secret', () => signBySecret(SECRET, person, { kid: 'first', typ: 'at+jwt' })],
];

test.each(BAD_JWTS)('a JWT that is %s is refused, and makes no row', async (_, make) => {
  const before = await sql.user.count();
  expect(await outcome(await make())).toEqual([401, 401]);
  expect(await sql.user.count()).toBe(before);
});

test('an audience counts as soon as it is set, and without one no JWT of the provider is taken', async () => {
  const token = await accessToken();
  expect(await outcome(token)).toEqual(['operator', 'operator']);
  await world.asAdmin.put(SETTINGS, { audience: null });
  expect(await outcome(token)).toEqual([401, 401]);
  await world.asAdmin.put(SETTINGS, { audience: 'https://other.example.test' });
  expect(await outcome(token)).toEqual([401, 401]);
  expect(await outcome(await accessToken({ aud: 'https://other.example.test' }))).toEqual(['operator', 'operator']);
});

test('a token that is refused never counts as nobody: it is refused on public paths too', async () => {
  const answer = await world.one.api(`Bearer ${await accessToken({ exp: 1 })}`).get('/api/v1/auth/config');
  expect(answer).toMatchObject({ status: 401, body: { code: 'invalid_token' } });
  expect(answer.headers['www-authenticate']).toContain('error="invalid_token"');
});

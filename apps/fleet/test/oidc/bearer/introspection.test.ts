import { ProviderUnavailable } from '@svc/auth/oidc';
import type { Members } from '../bendable-issuer.ts';
import { startOidcWorld } from '../world.ts';

const { issuer, aFleet } = await startOidcWorld();
const ISSUED = Math.floor(Date.now() / 1000);
const active = { active: true, token_type: 'Bearer', client_id: 'fleet', sub: 'ada' };
const ada = { claims: { iss: issuer.url, sub: 'ada' }, issuedAt: undefined };

const tell = (told: Members) => issuer.bend('/introspect', () => ({ body: told }));
const verify = (told: Members, at = aFleet({ audience: 'https://fleet.example.test' })) => {
  tell(told);
  return at.provider.verifyBearer('opaque');
};

test('introspection of an opaque token returns the claims of the user, without those of the token', async () => {
  const told = { ...active, iss: issuer.url, iat: ISSUED, exp: ISSUED + 60, scope: 'openid', role: 'admin' };
  expect(await verify(told)).toEqual({ claims: { iss: issuer.url, sub: 'ada', role: 'admin' }, issuedAt: ISSUED });
});

test('introspection is requested with the client credentials and the hint for an access token', async () => {
  await verify(active);
  const { authorization, form } = issuer.lastAt('/introspect') ?? {};
  expect(authorization).toBe(`Basic ${btoa('fleet:the%2Dsecret')}`);
  expect(Object.fromEntries(form ?? [])).toEqual({ token: 'opaque', token_type_hint: 'access_token' });
});

test.each<[string, Members]>([
  ['the configured audience', { client_id: 'another', aud: 'https://fleet.example.test' }],
  [
    'the configured audience among others',
    { client_id: 'another', aud: ['https://other.example.test', 'https://fleet.example.test'] },
  ],
  ['the client as its audience', { client_id: 'another', aud: 'fleet' }],
  ['the client and no audience', { aud: [] }],
  ['the type access_token', { token_type: 'access_token' }],
  ['a token_use', { token_use: 'access_token' }],
])('introspection accepts a token with %s', async (_, changed) => {
  expect(await verify({ ...active, ...changed })).toEqual(ada);
});

test.each<[string, Members]>([
  ['that is not active', { active: false }],
  ['of another client', { client_id: 'another' }],
  ['without a client', { client_id: undefined }],
  ['of the client for another audience', { aud: 'https://other.example.test' }],
  ['for another audience in a list', { aud: ['https://other.example.test'] }],
  ['with an invalid audience', { aud: 5 }],
  ['of another issuer', { iss: 'https://other.example.test' }],
  ['of the issuer with a trailing slash', { iss: `${issuer.url}/` }],
  ['that has expired', { exp: ISSUED - 1 }],
  ['with an expiry that is not a number', { exp: 'never' }],
  ['that is not valid yet', { nbf: ISSUED + 60 }],
  ['without a subject', { sub: undefined }],
  ['without a token type', { token_type: undefined }],
  ['that requires proof of possession', { token_type: 'DPoP' }],
  ['that is bound to a key', { cnf: { 'x5t#S256': 'x' } }],
  ['that is a refresh token', { token_use: 'refresh_token' }],
  ['with claims that are too large', { about: 'x'.repeat(17_000) }],
])('introspection rejects a token %s', async (_, changed) => {
  expect(await verify({ ...active, ...changed })).toBeUndefined();
});

test('an introspection response is cached for thirty seconds', async () => {
  const fleet = aFleet();
  const introspections = () => issuer.countOf('/introspect');
  const before = introspections();
  await verify(active, fleet);
  fleet.wait(29_999);
  expect(await verify({ active: false }, fleet)).toEqual(ada);
  expect(introspections()).toBe(before + 1);
  fleet.wait(1);
  expect(await verify({ active: false }, fleet)).toBeUndefined();
  expect(introspections()).toBe(before + 2);
});

test('a cached introspection response is not used after the token has expired', async () => {
  const fleet = aFleet();
  await verify({ ...active, exp: ISSUED + 20 }, fleet);
  fleet.wait(21_000);
  expect(await verify({ ...active, exp: ISSUED + 20 }, fleet)).toBeUndefined();
});

test('the thirty seconds of a cached introspection response count from the request', async () => {
  const fleet = aFleet();
  issuer.bend('/introspect', () => {
    fleet.wait(20_000);
    return { body: active };
  });
  await fleet.provider.verifyBearer('opaque');
  fleet.wait(10_000);
  expect(await verify({ active: false }, fleet)).toBeUndefined();
});

test('a rejection by introspection is cached too, for this token only', async () => {
  const fleet = aFleet();
  await verify({ active: false }, fleet);
  const before = issuer.countOf('/introspect');
  expect(await verify(active, fleet)).toBeUndefined();
  expect(issuer.countOf('/introspect')).toBe(before);
  expect(await fleet.provider.verifyBearer('another')).toEqual(ada);
});

test('concurrent checks of one token share one introspection request', async () => {
  const fleet = aFleet();
  tell(active);
  const before = issuer.countOf('/introspect');
  const answers = await Promise.all(Array.from({ length: 20 }, () => fleet.provider.verifyBearer('opaque')));
  expect(answers).toEqual(Array.from({ length: 20 }, () => ada));
  expect(issuer.countOf('/introspect')).toBe(before + 1);
});

test.each<[string, object]>([
  ['is down', { status: 500 }],
  ['rejects the client', { status: 401, body: { error: 'invalid_client' } }],
  ['answers 403', { status: 403, body: '' }],
  ['omits active', { body: {} }],
  ['sends active as a string', { body: { ...active, active: 'true' } }],
  ['answers invalid_grant', { status: 400, body: { error: 'invalid_grant' } }],
  [
    'answers with an unsigned JWT',
    { headers: { 'Content-Type': 'application/token-introspection+jwt' }, body: 'e30.e30.' },
  ],
])('if introspection %s, the provider is unavailable, and nothing is cached', async (_, reply) => {
  const fleet = aFleet();
  issuer.bend('/introspect', () => reply);
  await expect(fleet.provider.verifyBearer('opaque')).rejects.toThrow(ProviderUnavailable);
  expect(await verify(active, fleet)).toEqual(ada);
});

test('if there is introspection, userinfo does not matter, even if it is allowed', async () => {
  const before = issuer.countOf('/userinfo');
  expect(await verify({ active: false }, aFleet({ allowUserinfo: true }))).toBeUndefined();
  expect(issuer.countOf('/userinfo')).toBe(before);
});

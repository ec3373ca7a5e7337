import { ProviderUnavailable } from '../../src/oidc/provider.ts';
import type { Members } from './bendable-issuer.ts';
import { startOidcWorld } from './world.ts';

const { issuer, aFleet } = await startOidcWorld();
const ISSUED = Math.floor(Date.now() / 1000);
const active = { active: true, token_type: 'Bearer', client_id: 'fleet', sub: 'ada' };
const ada = { claims: { iss: issuer.url, sub: 'ada' }, issuedAt: undefined };

const tell = (told: Members) => issuer.bend('/introspect', () => ({ body: told }));
const verify = (told: Members, at = aFleet({ audience: 'https://fleet.example.test' })) => {
  tell(told);
  return at.provider.verifyBearer('opaque');
};

test('an opaque token is whose the provider says, and who they are without what speaks of the token', async () => {
  const told = { ...active, iss: issuer.url, iat: ISSUED, exp: ISSUED + 60, scope: 'openid', role: 'admin' };
  expect(await verify(told)).toEqual({ claims: { iss: issuer.url, sub: 'ada', role: 'admin' }, issuedAt: ISSUED });
});

test('the provider is asked as this client, and about an access token', async () => {
  await verify(active);
  const { authorization, form } = issuer.lastAt('/introspect') ?? {};
  expect(authorization).toBe(`Basic ${btoa('fleet:the%2Dsecret')}`);
  expect(Object.fromEntries(form ?? [])).toEqual({ token: 'opaque', token_type_hint: 'access_token' });
});

test.each<[string, Members]>([
  ['our audience', { client_id: 'another', aud: 'https://fleet.example.test' }],
  [
    'our audience among others',
    { client_id: 'another', aud: ['https://other.example.test', 'https://fleet.example.test'] },
  ],
  ['our client as its audience', { client_id: 'another', aud: 'fleet' }],
  ['our client and no audience', { aud: [] }],
  ['the other name of its type', { token_type: 'access_token' }],
  ['a use', { token_use: 'access_token' }],
])('a token with %s is taken', async (_, changed) => {
  expect(await verify({ ...active, ...changed })).toEqual(ada);
});

test.each<[string, Members]>([
  ['that is not active', { active: false }],
  ['of another client', { client_id: 'another' }],
  ['of a client that is not named', { client_id: undefined }],
  ['of our client for somebody else', { aud: 'https://other.example.test' }],
  ['for somebody else, in a list', { aud: ['https://other.example.test'] }],
  ['with an audience that is none', { aud: 5 }],
  ['of another issuer', { iss: 'https://other.example.test' }],
  ['of our issuer with a slash', { iss: `${issuer.url}/` }],
  ['that is over', { exp: ISSUED - 1 }],
  ['that ends by a word', { exp: 'never' }],
  ['that is not good yet', { nbf: ISSUED + 60 }],
  ['of nobody', { sub: undefined }],
  ['that does not say that it is an access token', { token_type: undefined }],
  ['that needs a proof of possession', { token_type: 'DPoP' }],
  ['that is a refresh token', { token_use: 'refresh_token' }],
  ['with more to say than is kept', { about: 'x'.repeat(17_000) }],
])('a token %s is good for nothing', async (_, changed) => {
  expect(await verify({ ...active, ...changed })).toBeUndefined();
});

test('an answer is given again for thirty seconds, and then asked for anew', async () => {
  const fleet = aFleet();
  const asked = () => issuer.countOf('/introspect');
  const before = asked();
  await verify(active, fleet);
  fleet.wait(29_999);
  expect(await verify({ active: false }, fleet)).toEqual(ada);
  expect(asked()).toBe(before + 1);
  fleet.wait(1);
  expect(await verify({ active: false }, fleet)).toBeUndefined();
  expect(asked()).toBe(before + 2);
});

test('an answer is not given again once the token is over', async () => {
  const fleet = aFleet();
  await verify({ ...active, exp: ISSUED + 20 }, fleet);
  fleet.wait(21_000);
  expect(await verify({ ...active, exp: ISSUED + 20 }, fleet)).toBeUndefined();
});

test('thirty seconds count from the question, however long the answer takes', async () => {
  const fleet = aFleet();
  issuer.bend('/introspect', () => {
    fleet.wait(20_000);
    return { body: active };
  });
  await fleet.provider.verifyBearer('opaque');
  fleet.wait(10_000);
  expect(await verify({ active: false }, fleet)).toBeUndefined();
});

test('a refusal is given again as well, for nobody else’s token', async () => {
  const fleet = aFleet();
  await verify({ active: false }, fleet);
  const before = issuer.countOf('/introspect');
  expect(await verify(active, fleet)).toBeUndefined();
  expect(issuer.countOf('/introspect')).toBe(before);
  expect(await fleet.provider.verifyBearer('another')).toEqual(ada);
});

test('those who ask at once share one question', async () => {
  const fleet = aFleet();
  tell(active);
  const before = issuer.countOf('/introspect');
  const answers = await Promise.all(Array.from({ length: 20 }, () => fleet.provider.verifyBearer('opaque')));
  expect(answers).toEqual(Array.from({ length: 20 }, () => ada));
  expect(issuer.countOf('/introspect')).toBe(before + 1);
});

test.each<[string, object]>([
  ['is down', { status: 500 }],
  ['does not take us', { status: 401, body: { error: 'invalid_client' } }],
  ['does not let us ask', { status: 403, body: '' }],
  ['does not say', { body: {} }],
  ['says so by a word', { body: { ...active, active: 'true' } }],
  ['speaks of a grant', { status: 400, body: { error: 'invalid_grant' } }],
  [
    'answers by a JWT that nobody checks',
    { headers: { 'Content-Type': 'application/token-introspection+jwt' }, body: 'e30.e30.' },
  ],
])('while introspection %s nothing is known, and nothing remembered', async (_, reply) => {
  const fleet = aFleet();
  issuer.bend('/introspect', () => reply);
  await expect(fleet.provider.verifyBearer('opaque')).rejects.toThrow(ProviderUnavailable);
  expect(await verify(active, fleet)).toEqual(ada);
});

test('introspection has the last word, whether userinfo is allowed or not', async () => {
  const before = issuer.countOf('/userinfo');
  expect(await verify({ active: false }, aFleet({ allowUserinfo: true }))).toBeUndefined();
  expect(issuer.countOf('/userinfo')).toBe(before);
});

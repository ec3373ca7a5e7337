import { type Answering, DISCOVERY, type Members } from './bendable-issuer.ts';
import type { FleetOptions } from './fleet.ts';
import { startOidcWorld } from './world.ts';

const { issuer, aFleet } = await startOidcWorld();
const ALL = ['discovery', 'issuer', 'sign-in', 'keys', 'client', 'refresh tokens', 'introspection'];
const refuse =
  (error: string, status = 400): Answering =>
  () => ({ status, body: { error, error_description: 'the description' } });

/** What is wrong at a provider that refuses our nonsense as it should, by name; and everything, to look for leaks. */
async function wrongAt(changed: FleetOptions = {}) {
  const checks = await aFleet(changed).provider.test();
  const wrong = Object.fromEntries(checks.filter(({ ok }) => !ok).map(({ name, detail }) => [name, detail]));
  return { checks, names: checks.map(({ name }) => name), wrong, said: JSON.stringify(checks) };
}
const detailOf = async (name: string, changed: FleetOptions = {}) =>
  (await wrongAt(changed)).checks.find((check) => check.name === name);

beforeEach(() => {
  issuer.bend('/token', refuse('invalid_grant'));
});

test('a provider with everything right passes every check', async () => {
  const { names, wrong } = await wrongAt();
  expect(names).toEqual(ALL);
  expect(wrong).toEqual({});
});

test.each<[string, Answering, RegExp]>([
  ['is down', () => ({ status: 503 }), /can’t answer now \(503\)/],
  ['has no metadata', () => ({ status: 404 }), /no metadata at its address \(404\)/],
  ['redirects', () => ({ status: 301, headers: { Location: '/elsewhere' } }), /answers 301/],
  ['answers with a page', () => ({ body: '<html>the page' }), /no JSON object/],
  ['lacks endpoints', () => ({ body: { issuer: issuer.url } }), /authorization_endpoint, token_endpoint, jwks_uri/],
])('of a provider that %s only that is told', async (_, answering, detail) => {
  issuer.bend(DISCOVERY, answering);
  const { names, wrong, said } = await wrongAt();
  expect(names).toEqual(['discovery']);
  expect(wrong.discovery).toMatch(detail);
  expect(said).not.toContain('the page');
});

test('of a provider that never answers only that is told', async () => {
  issuer.bend(DISCOVERY, () => 'silence');
  expect((await wrongAt({ timeoutMs: 200 })).wrong).toEqual({ discovery: expect.stringMatching(/in time/) });
});

test('of a provider that is not there only that is told', async () => {
  await issuer.goAway();
  const { wrong } = await wrongAt();
  await issuer.comeBack();
  expect(Object.keys(wrong)).toEqual(['discovery']);
  expect(wrong.discovery).toMatch(/does not answer \(ECONNREFUSED\)/);
});

test('another issuer is told apart from a slash too few, and is sent no secret', async () => {
  issuer.bendMetadata({ issuer: 'https://other.example.test' });
  const before = issuer.countOf('/token') + issuer.countOf('/introspect');
  const other = await wrongAt();
  issuer.bendMetadata({ issuer: `${issuer.url}/` });
  const slash = await wrongAt();
  expect(other.names).toEqual(['discovery', 'issuer']);
  expect(other.wrong.issuer).toMatch(/agree to the letter/);
  expect(other.said).not.toContain('other.example');
  expect(slash.wrong.issuer).toMatch(/with a slash at the end/);
  expect(issuer.countOf('/token') + issuer.countOf('/introspect')).toBe(before);
});

test.each<[string, Members, string, RegExp]>([
  ['no code flow', { response_types_supported: ['id_token'] }, 'sign-in', /authorization code flow/],
  ['no S256', { code_challenge_methods_supported: ['plain'] }, 'sign-in', /S256/],
  [
    'no refresh tokens',
    { grant_types_supported: ['authorization_code'], scopes_supported: ['openid'] },
    'refresh tokens',
    /no refresh tokens/,
  ],
])('a provider that offers %s is told so', async (_, metadata, name, detail) => {
  issuer.bendMetadata(metadata);
  const { names, wrong } = await wrongAt();
  expect(names).toEqual(ALL);
  expect(wrong).toEqual({ [name]: expect.stringMatching(detail) });
});

test('what a provider does not say is not held against it', async () => {
  issuer.bendMetadata({
    response_types_supported: undefined,
    code_challenge_methods_supported: undefined,
    scopes_supported: undefined,
  });
  expect((await wrongAt()).wrong).toEqual({});
});

const p256 = { kty: 'EC', crv: 'P-256', kid: 'k' };
test.each<[string, unknown]>([
  ['are none', []],
  ['have no id', [{ ...p256, kid: undefined }]],
  ['are for encryption', [{ ...p256, use: 'enc' }]],
  [
    'fit no algorithm that we take',
    [
      { ...p256, alg: 'ES384' },
      { kty: 'EC', crv: 'P-521', kid: 'k' },
      { kty: 'oct', kid: 'k' },
    ],
  ],
])('keys that %s can’t be used', async (_, keys) => {
  issuer.bend('/keys', () => ({ body: { keys } }));
  expect((await wrongAt()).wrong).toEqual({ keys: expect.stringMatching(/None of the provider’s keys/) });
});

test.each<[string, object]>([
  ['can’t be fetched', { status: 500 }],
  ['are not where they should be', { status: 404 }],
  ['are no key set', { body: { keys: 'none' } }],
])('keys that %s are told so', async (_, reply) => {
  issuer.bend('/keys', () => reply);
  expect(Object.keys((await wrongAt()).wrong)).toEqual(['keys']);
});

test.each([
  ['invalid_client', 401],
  ['invalid_client', 400],
  ['unauthorized_client', 401],
])('a wrong client or secret (%s, %d) is told so, without the secret', async (error, status) => {
  issuer.bend('/token', refuse(error, status));
  const { wrong, said } = await wrongAt();
  expect(wrong).toEqual({ client: expect.stringMatching(/the client id or the client secret is wrong/) });
  expect(said).not.toMatch(/the-secret|the description/);
});

test('where the client can’t be told right from wrong, that is told', async () => {
  issuer.bend('/token', refuse('invalid_request'));
  expect(await detailOf('client')).toMatchObject({ ok: true, detail: expect.stringMatching(/can’t be told/) });
});

test.each<[string, Answering]>([
  ['is down', () => ({ status: 500 })],
  ['takes any code', () => issuer.tokens({ id_token: undefined })],
])('a token endpoint that %s is told so', async (_, answering) => {
  issuer.bend('/token', answering);
  expect(Object.keys((await wrongAt()).wrong)).toEqual(['client']);
});

test('a client without a secret is told what that means for opaque tokens', async () => {
  expect(await detailOf('client', { clientSecret: undefined })).toMatchObject({ ok: true });
  const without = { clientSecret: undefined };
  expect((await detailOf('introspection', without))?.detail).toMatch(/opaque access tokens are refused/);
  expect((await detailOf('introspection', { ...without, allowUserinfo: true }))?.detail).toMatch(/proved by userinfo/);
});

test('a provider without introspection is told what that means', async () => {
  issuer.bendMetadata({ introspection_endpoint: undefined });
  expect(await detailOf('introspection')).toMatchObject({
    ok: true,
    detail: expect.stringMatching(/no introspection/),
  });
});

test.each<[string, Answering]>([
  ['refuses us', refuse('invalid_client', 401)],
  ['forbids us', () => ({ status: 403, body: '' })],
  ['is down', () => ({ status: 500 })],
  ['calls nonsense active', () => ({ body: { active: true } })],
])('introspection that %s is told so', async (_, answering) => {
  issuer.bend('/introspect', answering);
  expect(Object.keys((await wrongAt()).wrong)).toEqual(['introspection']);
});

test('a test looks at the provider as it is now', async () => {
  const { provider } = aFleet();
  await provider.test();
  issuer.bendMetadata({ response_types_supported: ['id_token'] });
  expect((await provider.test()).filter(({ ok }) => !ok).map(({ name }) => name)).toEqual(['sign-in']);
});

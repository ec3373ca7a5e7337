import { DISCOVERY, type Members, type Responder } from './bendable-issuer.ts';
import type { FleetOptions } from './fleet.ts';
import { startOidcWorld } from './world.ts';

const { issuer, aFleet } = await startOidcWorld();
const ALL = ['discovery', 'issuer', 'sign-in', 'keys', 'client', 'refresh tokens', 'introspection'];
const refuse =
  (error: string, status = 400): Responder =>
  () => ({ status, body: { error, error_description: 'the description' } });

/**
 * The failed checks by name at a provider that rejects invalid codes and tokens, and the full
 * result, to look for leaks.
 */
async function wrongAt(changed: FleetOptions = {}) {
  const checks = await aFleet(changed).provider.test();
  const wrong = Object.fromEntries(checks.filter(({ ok }) => !ok).map(({ name, detail }) => [name, detail]));
  return { checks, names: checks.map(({ name }) => name), wrong, text: JSON.stringify(checks) };
}
const detailOf = async (name: string, changed: FleetOptions = {}) =>
  (await wrongAt(changed)).checks.find((check) => check.name === name);

beforeEach(() => {
  issuer.bend('/token', refuse('invalid_grant'));
});

test('a conforming provider passes each check', async () => {
  const { names, wrong } = await wrongAt();
  expect(names).toEqual(ALL);
  expect(wrong).toEqual({});
});

test.each<[string, Responder, RegExp]>([
  ['is down', () => ({ status: 503 }), /is unavailable \(503\)/],
  ['has no metadata', () => ({ status: 404 }), /no metadata at its issuer URL \(404\)/],
  ['redirects', () => ({ status: 301, headers: { Location: '/elsewhere' } }), /responds with 301/],
  ['answers with a page', () => ({ body: '<html>the page' }), /not a JSON object/],
  ['lacks endpoints', () => ({ body: { issuer: issuer.url } }), /authorization_endpoint, token_endpoint, jwks_uri/],
])('only the discovery check is reported for a provider that %s', async (_, answering, detail) => {
  issuer.bend(DISCOVERY, answering);
  const { names, wrong, text } = await wrongAt();
  expect(names).toEqual(['discovery']);
  expect(wrong.discovery).toMatch(detail);
  expect(text).not.toContain('the page');
});

test('only the discovery check is reported for a provider that never answers', async () => {
  issuer.bend(DISCOVERY, () => 'silence');
  expect((await wrongAt({ timeoutMs: 200 })).wrong).toEqual({ discovery: expect.stringMatching(/in time/) });
});

test('only the discovery check is reported for a provider at whose address nothing listens', async () => {
  await issuer.stopListening();
  const { wrong } = await wrongAt();
  await issuer.startListening();
  expect(Object.keys(wrong)).toEqual(['discovery']);
  expect(wrong.discovery).toMatch(/does not respond \(ECONNREFUSED\)/);
});

test('the checks distinguish another issuer from a missing trailing slash, and send no secret to either', async () => {
  issuer.bendMetadata({ issuer: 'https://other.example.test' });
  const before = issuer.countOf('/token') + issuer.countOf('/introspect');
  const other = await wrongAt();
  issuer.bendMetadata({ issuer: `${issuer.url}/` });
  const slash = await wrongAt();
  expect(other.names).toEqual(['discovery', 'issuer']);
  expect(other.wrong.issuer).toMatch(/must be identical/);
  expect(other.text).not.toContain('other.example');
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
])('the checks report a provider that offers %s', async (_, metadata, name, detail) => {
  issuer.bendMetadata(metadata);
  const { names, wrong } = await wrongAt();
  expect(names).toEqual(ALL);
  expect(wrong).toEqual({ [name]: expect.stringMatching(detail) });
});

test('the checks do not report metadata that the provider omits', async () => {
  issuer.bendMetadata({
    response_types_supported: undefined,
    code_challenge_methods_supported: undefined,
    scopes_supported: undefined,
  });
  expect((await wrongAt()).wrong).toEqual({});
});

const p256 = { kty: 'EC', crv: 'P-256', kid: 'k' };
test.each<[string, unknown]>([
  ['are an empty list', []],
  ['have no id', [{ ...p256, kid: undefined }]],
  ['are for encryption', [{ ...p256, use: 'enc' }]],
  [
    'fit no supported algorithm',
    [
      { ...p256, alg: 'ES384' },
      { kty: 'EC', crv: 'P-521', kid: 'k' },
      { kty: 'oct', kid: 'k' },
    ],
  ],
])('the checks report keys that %s as unusable', async (_, keys) => {
  issuer.bend('/keys', () => ({ body: { keys } }));
  expect((await wrongAt()).wrong).toEqual({ keys: expect.stringMatching(/None of the provider’s keys/) });
});

test.each<[string, object]>([
  ['cannot be fetched', { status: 500 }],
  ['are not at their address', { status: 404 }],
  ['are not a key set', { body: { keys: 'none' } }],
])('the checks report keys that %s', async (_, reply) => {
  issuer.bend('/keys', () => reply);
  expect(Object.keys((await wrongAt()).wrong)).toEqual(['keys']);
});

test.each([
  ['invalid_client', 401],
  ['invalid_client', 400],
  ['unauthorized_client', 401],
])('the checks report a wrong client or secret (%s, %d), without the secret', async (error, status) => {
  issuer.bend('/token', refuse(error, status));
  const { wrong, text } = await wrongAt();
  expect(wrong).toEqual({ client: expect.stringMatching(/the client id or the client secret is wrong/) });
  expect(text).not.toMatch(/the-secret|the description/);
});

test('the checks state that the client cannot be verified if the response does not tell', async () => {
  issuer.bend('/token', refuse('invalid_request'));
  expect(await detailOf('client')).toMatchObject({
    ok: true,
    detail: expect.stringMatching(/cannot be verified before the first sign-in/),
  });
});

test.each<[string, Responder]>([
  ['is down', () => ({ status: 500 })],
  ['accepts any code', () => issuer.tokens({ id_token: undefined })],
])('the checks report a token endpoint that %s', async (_, answering) => {
  issuer.bend('/token', answering);
  expect(Object.keys((await wrongAt()).wrong)).toEqual(['client']);
});

test('the checks state how opaque tokens are treated if the client has no secret', async () => {
  expect(await detailOf('client', { clientSecret: undefined })).toMatchObject({ ok: true });
  const without = { clientSecret: undefined };
  expect((await detailOf('introspection', without))?.detail).toMatch(/opaque access tokens are rejected/);
  expect((await detailOf('introspection', { ...without, allowUserinfo: true }))?.detail).toMatch(
    /verified with userinfo/,
  );
});

test('the checks state how opaque tokens are treated if the provider has no introspection', async () => {
  issuer.bendMetadata({ introspection_endpoint: undefined });
  expect(await detailOf('introspection')).toMatchObject({
    ok: true,
    detail: expect.stringMatching(/no introspection/),
  });
});

test.each<[string, Responder]>([
  ['rejects the client', refuse('invalid_client', 401)],
  ['answers 403', () => ({ status: 403, body: '' })],
  ['is down', () => ({ status: 500 })],
  ['reports an invalid token as active', () => ({ body: { active: true } })],
])('the checks report introspection that %s', async (_, answering) => {
  issuer.bend('/introspect', answering);
  expect(Object.keys((await wrongAt()).wrong)).toEqual(['introspection']);
});

test('the checks use the current metadata of the provider', async () => {
  const { provider } = aFleet();
  await provider.test();
  issuer.bendMetadata({ response_types_supported: ['id_token'] });
  expect((await provider.test()).filter(({ ok }) => !ok).map(({ name }) => name)).toEqual(['sign-in']);
});

import { ProviderUnavailable } from '@svc/auth/oidc';
import { DISCOVERY, type Responder } from './bendable-issuer.ts';
import { startOidcWorld } from './world.ts';

const { issuer, aFleet } = await startOidcWorld();
const ELSEWHERE = '/elsewhere';

const unusable: [string, Responder][] = [
  ['redirects', () => ({ status: 307, headers: { Location: `${issuer.url}${ELSEWHERE}` } })],
  ['answers 304', () => ({ status: 304 })],
  ['is down', () => ({ status: 503 })],
  ['answers 429', () => ({ status: 429, body: { error: 'invalid_grant' } })],
  ['answers 500 with an OAuth error', () => ({ status: 500, body: { error: 'invalid_grant' } })],
  ['sends a response that is too large', () => ({ body: { padding: 'x'.repeat(100_000) } })],
  ['answers with a page', () => ({ headers: { 'Content-Type': 'text/html' }, body: '<html>Sign in</html>' })],
  ['answers with a page that is declared as JSON', () => ({ body: '<html>Sign in</html>' })],
  ['answers with incomplete JSON', () => ({ body: '{"access_token": "a' })],
  ['answers with a list', () => ({ body: [] })],
  ['answers with an empty body', () => ({ body: '' })],
  ['answers with an empty object', () => ({ body: {} })],
  ['answers without content', () => ({ status: 204, body: '' })],
  ['answers 201', () => ({ status: 201 })],
  ['answers 400 with a page', () => ({ status: 400, body: '<html>' })],
];

test.each(unusable)('a token endpoint that %s makes the provider unavailable', async (_, answering) => {
  issuer.bend('/token', answering);
  await expect(aFleet().signIn()).rejects.toThrow(ProviderUnavailable);
  expect(issuer.countOf(ELSEWHERE)).toBe(0);
});

test.each(unusable)('a discovery endpoint that %s makes the provider unavailable', async (_, answering) => {
  issuer.bend(DISCOVERY, answering);
  await expect(aFleet().signIn()).rejects.toThrow(ProviderUnavailable);
  expect(issuer.countOf(ELSEWHERE)).toBe(0);
});

test.each(['/token', DISCOVERY])('a provider without a response at %s is unavailable', async (path) => {
  issuer.bend(path, () => 'silence');
  await expect(aFleet({ timeoutMs: 200 }).signIn()).rejects.toThrow(ProviderUnavailable);
});

test('a provider is unavailable while nothing listens at its address, and available afterwards', async () => {
  const fleet = aFleet();
  await fleet.signIn();
  await issuer.stopListening();
  const failure = await fleet.signIn().catch((error: unknown) => error);
  await issuer.startListening();
  expect(failure).toEqual(expect.any(ProviderUnavailable));
  expect((await fleet.signIn()).claims.sub).toBe('ada');
});

test.each([
  ['no access token', { access_token: undefined }],
  ['another type of token', { token_type: 'N_A' }],
  ['no type of token', { token_type: undefined }],
  ['an empty refresh token', { refresh_token: '' }],
])('a token response with %s is rejected', async (_, changed) => {
  issuer.bend('/token', () => issuer.tokens(changed));
  await expect(aFleet().signIn()).rejects.toThrow(ProviderUnavailable);
});

test.each(['invalid_request', 'invalid_scope', 'unsupported_grant_type', 'something_new'])(
  'a token endpoint that answers %s makes the provider unavailable',
  async (error) => {
    issuer.bend('/token', () => ({ status: 400, body: { error, error_description: 'the description' } }));
    const failure = await aFleet()
      .signIn()
      .catch((thrown: unknown) => thrown);
    expect(failure).toMatchObject({ name: 'ProviderUnavailable', refuses: 'request' });
    expect(String(failure)).not.toMatch(/the description|something_new/);
  },
);

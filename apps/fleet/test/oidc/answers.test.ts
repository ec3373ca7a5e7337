import { ProviderUnavailable } from '../../src/oidc/provider.ts';
import { type Answering, DISCOVERY } from './bendable-issuer.ts';
import { startOidcWorld } from './world.ts';

const { issuer, aFleet } = await startOidcWorld();
const ELSEWHERE = '/elsewhere';

const unusable: [string, Answering][] = [
  ['redirects', () => ({ status: 307, headers: { Location: `${issuer.url}${ELSEWHERE}` } })],
  ['redirects as if nothing had changed', () => ({ status: 304 })],
  ['is down', () => ({ status: 503 })],
  ['wants us to slow down', () => ({ status: 429, body: { error: 'invalid_grant' } })],
  ['is broken, and names an OAuth error', () => ({ status: 500, body: { error: 'invalid_grant' } })],
  ['answers with a flood', () => ({ body: { padding: 'x'.repeat(100_000) } })],
  ['answers with a page', () => ({ headers: { 'Content-Type': 'text/html' }, body: '<html>Sign in</html>' })],
  ['answers with a page that claims to be JSON', () => ({ body: '<html>Sign in</html>' })],
  ['answers with half a document', () => ({ body: '{"access_token": "a' })],
  ['answers with a list', () => ({ body: [] })],
  ['answers with nothing', () => ({ body: '' })],
  ['answers with an empty object', () => ({ body: {} })],
  ['answers without content', () => ({ status: 204, body: '' })],
  ['answers with success of another kind', () => ({ status: 201 })],
  ['answers with a page for an error', () => ({ status: 400, body: '<html>' })],
];

test.each(unusable)('a token endpoint that %s is no answer for now', async (_, answering) => {
  issuer.bend('/token', answering);
  await expect(aFleet().signIn()).rejects.toThrow(ProviderUnavailable);
  expect(issuer.countOf(ELSEWHERE)).toBe(0);
});

test.each(unusable)('a discovery that %s is no answer for now', async (_, answering) => {
  issuer.bend(DISCOVERY, answering);
  await expect(aFleet().signIn()).rejects.toThrow(ProviderUnavailable);
  expect(issuer.countOf(ELSEWHERE)).toBe(0);
});

test.each(['/token', DISCOVERY])('silence at %s is no answer for now', async (path) => {
  issuer.bend(path, () => 'silence');
  await expect(aFleet({ timeoutMs: 200 }).signIn()).rejects.toThrow(ProviderUnavailable);
});

test('an address at which nothing listens is no answer for now, and one when it is back', async () => {
  const fleet = aFleet();
  await fleet.signIn();
  await issuer.goAway();
  const failure = await fleet.signIn().catch((error: unknown) => error);
  await issuer.comeBack();
  expect(failure).toEqual(expect.any(ProviderUnavailable));
  expect((await fleet.signIn()).claims.sub).toBe('ada');
});

test.each([
  ['no access token', { access_token: undefined }],
  ['another type of token', { token_type: 'N_A' }],
  ['no type of token', { token_type: undefined }],
  ['an empty refresh token', { refresh_token: '' }],
])('a token answer with %s can’t be used', async (_, changed) => {
  issuer.bend('/token', () => issuer.tokens(changed));
  await expect(aFleet().signIn()).rejects.toThrow(ProviderUnavailable);
});

test.each(['invalid_request', 'invalid_scope', 'unsupported_grant_type', 'something_new'])(
  'a token endpoint that answers %s is not the person’s fault',
  async (error) => {
    issuer.bend('/token', () => ({ status: 400, body: { error, error_description: 'the description' } }));
    const failure = await aFleet()
      .signIn()
      .catch((thrown: unknown) => thrown);
    expect(failure).toMatchObject({ name: 'ProviderUnavailable', refuses: 'request' });
    expect(String(failure)).not.toMatch(/the description|something_new/);
  },
);

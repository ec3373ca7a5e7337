import { ProviderUnavailable } from '@svc/auth/oidc';
import { eventually } from '@svc/testing';
import { DISCOVERY } from './bendable-issuer.ts';
import { REDIRECT } from './fleet.ts';
import { secrets } from './secrets.ts';
import { startOidcWorld } from './world.ts';

const { issuer, aFleet } = await startOidcWorld();

const urlFrom = ({ provider }: ReturnType<typeof aFleet>) =>
  provider.authorizationUrl({ redirectUri: REDIRECT, ...secrets() });

const scopeOf = async (supported: unknown) => {
  issuer.bendMetadata({ scopes_supported: supported });
  return (await urlFrom(aFleet())).searchParams.get('scope');
};

test('the authorization URL has code, PKCE, state and nonce, and not the verifier', async () => {
  const { provider } = aFleet();
  const codeVerifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
  const url = await provider.authorizationUrl({ redirectUri: REDIRECT, state: 's', nonce: 'n', codeVerifier });
  expect(url.origin + url.pathname).toBe(`${issuer.url}/authorize`);
  expect(Object.fromEntries(url.searchParams)).toEqual({
    client_id: 'fleet',
    response_type: 'code',
    redirect_uri: REDIRECT,
    scope: 'openid email profile offline_access',
    state: 's',
    nonce: 'n',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', // RFC 7636, appendix B
    code_challenge_method: 'S256',
  });
});

test('the authorization URL keeps the query of the authorization endpoint', async () => {
  issuer.bendMetadata({ authorization_endpoint: `${issuer.url}/authorize?tenant=1` });
  expect((await urlFrom(aFleet())).searchParams.get('tenant')).toBe('1');
});

test.each([
  [['openid', 'email'], 'openid email'],
  [['email', 'profile'], 'openid email profile'],
  [undefined, 'openid email profile offline_access'],
  ['openid', 'openid email profile offline_access'],
])('for a provider that supports %j the requested scope is "%s"', async (supported, scope) => {
  expect(await scopeOf(supported)).toBe(scope);
});

test('metadata are fetched when they are first needed, once for all concurrent callers', async () => {
  const before = issuer.countOf(DISCOVERY);
  const fleet = aFleet();
  expect(issuer.countOf(DISCOVERY)).toBe(before);
  await Promise.all(Array.from({ length: 20 }, () => urlFrom(fleet)));
  expect(issuer.countOf(DISCOVERY)).toBe(before + 1);
});

test('metadata are fetched again after one hour', async () => {
  const fleet = aFleet();
  await urlFrom(fleet);
  issuer.bendMetadata({ authorization_endpoint: `${issuer.url}/moved` });
  fleet.wait(3_600_000);
  expect((await urlFrom(fleet)).pathname).toBe('/authorize');
  expect(fleet.sent).toEqual([DISCOVERY]);
  fleet.wait(1);
  await eventually('the new metadata are used', async () => (await urlFrom(fleet)).pathname, {
    until: (pathname) => pathname === '/moved',
  });
});

test('known metadata are used while the provider is unreachable', async () => {
  const fleet = aFleet();
  await urlFrom(fleet);
  issuer.bend(DISCOVERY, () => ({ status: 500 }));
  fleet.wait(24 * 3_600_000);
  await eventually('the request for metadata has failed', async () => {
    await urlFrom(fleet);
    return fleet.provider.status().problem !== undefined;
  });
  expect((await urlFrom(fleet)).pathname).toBe('/authorize');
});

test('a failed request for metadata is retried after two seconds at the earliest', async () => {
  const fleet = aFleet();
  issuer.bend(DISCOVERY, () => ({ status: 500 }));
  const before = issuer.countOf(DISCOVERY);
  for (let times = 0; times < 3; times++) await expect(urlFrom(fleet)).rejects.toThrow(ProviderUnavailable);
  expect(issuer.countOf(DISCOVERY)).toBe(before + 1);
  issuer.straighten();
  fleet.wait(2000);
  expect((await urlFrom(fleet)).pathname).toBe('/authorize');
  expect(fleet.provider.status()).toEqual({ wasReached: true, problem: undefined });
});

test.each([
  ['of another issuer', { issuer: 'https://other.example.test' }],
  ['of the issuer with a trailing slash', { issuer: `${issuer.url}/` }],
  ['without an authorization endpoint', { authorization_endpoint: undefined }],
  ['without a token endpoint', { token_endpoint: undefined }],
  ['without keys', { jwks_uri: undefined }],
  ['with an endpoint that is not an http URL', { authorization_endpoint: 'javascript:alert(1)' }],
])('metadata that are %s are rejected', async (_, changed) => {
  issuer.bendMetadata(changed);
  await expect(urlFrom(aFleet())).rejects.toThrow(ProviderUnavailable);
});

test('an issuer whose identifier ends in a slash is requested at the same address', async () => {
  issuer.bendMetadata({ issuer: `${issuer.url}/` });
  expect((await urlFrom(aFleet({ issuer: `${issuer.url}/` }))).pathname).toBe('/authorize');
});

import { ProviderUnavailable } from '../../src/oidc/provider.ts';
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

test('a browser is sent with code, PKCE, state and nonce, and without the verifier', async () => {
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

test('what the authorization endpoint has in its query stays there', async () => {
  issuer.bendMetadata({ authorization_endpoint: `${issuer.url}/authorize?tenant=1` });
  expect((await urlFrom(aFleet())).searchParams.get('tenant')).toBe('1');
});

test.each([
  [['openid', 'email'], 'openid email'],
  [['email', 'profile'], 'openid email profile'],
  [undefined, 'openid email profile offline_access'],
  ['openid', 'openid email profile offline_access'],
])('of a provider that supports %j the scope asked for is "%s"', async (supported, scope) => {
  expect(await scopeOf(supported)).toBe(scope);
});

test('nothing is fetched before it is needed, and then once for all who ask at once', async () => {
  const before = issuer.countOf(DISCOVERY);
  const fleet = aFleet();
  expect(issuer.countOf(DISCOVERY)).toBe(before);
  await Promise.all(Array.from({ length: 20 }, () => urlFrom(fleet)));
  expect(issuer.countOf(DISCOVERY)).toBe(before + 1);
});

test('metadata are fetched anew after an hour, not before', async () => {
  const fleet = aFleet();
  await urlFrom(fleet);
  issuer.bendMetadata({ authorization_endpoint: `${issuer.url}/moved` });
  fleet.wait(3_600_000);
  expect((await urlFrom(fleet)).pathname).toBe('/authorize');
  expect(fleet.sent).toEqual([DISCOVERY]);
  fleet.wait(1);
  await expectSoon(async () => (await urlFrom(fleet)).pathname, '/moved');
});

test('known metadata serve on while the provider is away', async () => {
  const fleet = aFleet();
  await urlFrom(fleet);
  issuer.bend(DISCOVERY, () => ({ status: 500 }));
  fleet.wait(24 * 3_600_000);
  await expectSoon(async () => {
    await urlFrom(fleet);
    return fleet.provider.failing();
  }, true);
  expect((await urlFrom(fleet)).pathname).toBe('/authorize');
});

test('a failure is not tried again within two seconds, and then it is', async () => {
  const fleet = aFleet();
  issuer.bend(DISCOVERY, () => ({ status: 500 }));
  const before = issuer.countOf(DISCOVERY);
  for (let times = 0; times < 3; times++) await expect(urlFrom(fleet)).rejects.toThrow(ProviderUnavailable);
  expect(issuer.countOf(DISCOVERY)).toBe(before + 1);
  issuer.straighten();
  fleet.wait(2000);
  expect((await urlFrom(fleet)).pathname).toBe('/authorize');
  expect(fleet.provider.failing()).toBe(false);
});

test.each([
  ['another issuer’s', { issuer: 'https://other.example.test' }],
  ['those of the issuer with a slash', { issuer: `${issuer.url}/` }],
  ['without an authorization endpoint', { authorization_endpoint: undefined }],
  ['without a token endpoint', { token_endpoint: undefined }],
  ['without keys', { jwks_uri: undefined }],
  ['with an endpoint that is no web address', { authorization_endpoint: 'javascript:alert(1)' }],
])('metadata that are %s are not used', async (_, changed) => {
  issuer.bendMetadata(changed);
  await expect(urlFrom(aFleet())).rejects.toThrow(ProviderUnavailable);
});

test('an issuer whose identifier ends in a slash is asked at the same address', async () => {
  issuer.bendMetadata({ issuer: `${issuer.url}/` });
  expect((await urlFrom(aFleet({ issuer: `${issuer.url}/` }))).pathname).toBe('/authorize');
});

/** What is fetched in the background arrives when it does. */
async function expectSoon<T>(read: () => Promise<T>, wanted: T) {
  for (let tries = 0; (await read()) !== wanted; tries++) {
    if (tries === 500) expect(await read()).toBe(wanted);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

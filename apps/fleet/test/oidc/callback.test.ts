import { GrantRefused, ProviderUnavailable } from '@svc/auth/oidc';
import { startOidcWorld } from './world.ts';

const { issuer, aFleet } = await startOidcWorld();
const fleet = aFleet();

test('a valid callback returns the claims of the user', async () => {
  expect(await fleet.signIn()).toEqual({
    claims: { iss: issuer.url, sub: 'ada', name: 'Ada' },
    refreshToken: 'refresh-1',
  });
});

test.each([
  ['another state', { state: 'another' }],
  ['no state', { state: undefined }],
  ['another issuer (a mix-up)', { iss: 'https://other.example.test' }],
  ['no issuer, from a provider that declares that it sends one', { iss: undefined }],
  ['no code', { code: undefined }],
  ['the response as a JWT', { response: 'a.b.c' }],
  ['an ID token in the query', { id_token: 'a.b.c' }],
])('a callback with %s is rejected before anything is sent', async (_, query) => {
  const before = issuer.countOf('/token');
  await expect(fleet.signIn(query)).rejects.toThrow(GrantRefused);
  expect(issuer.countOf('/token')).toBe(before);
});

test.each(['code', 'state', 'iss'])('a callback with two values of %s is rejected', async (name) => {
  const callback = fleet.newCallback();
  callback.currentUrl.searchParams.append(name, 'a second one');
  await expect(fleet.provider.redeemCallback(callback)).rejects.toThrow(GrantRefused);
});

test.each([
  ['another nonce', 'another'],
  ['no nonce', undefined],
  ['a nonce that is not a string', 5],
])('an ID token with %s is rejected', async (_, nonce) => {
  issuer.bend('/token', async () => issuer.tokens({ id_token: await issuer.idToken({ nonce }) }));
  await expect(fleet.signIn()).rejects.toThrow(GrantRefused);
});

test.each(['', 'too-short', `${'x'.repeat(43)}é`, 'x'.repeat(129)])(
  'an invalid code verifier is rejected before anything is sent: "%s"',
  async (codeVerifier) => {
    const before = issuer.countOf('/token');
    await expect(fleet.provider.redeemCallback({ ...fleet.newCallback(), codeVerifier })).rejects.toThrow(GrantRefused);
    expect(issuer.countOf('/token')).toBe(before);
  },
);

test('the code is sent to the token endpoint with its verifier and the redirect URI', async () => {
  const callback = fleet.newCallback();
  await fleet.provider.redeemCallback(callback);
  expect(Object.fromEntries(issuer.lastAt('/token')?.form ?? [])).toEqual({
    grant_type: 'authorization_code',
    code: 'a-code',
    code_verifier: callback.codeVerifier,
    redirect_uri: callback.currentUrl.origin + callback.currentUrl.pathname,
  });
});

test('the redirect URI is identical in both requests, however it was written', async () => {
  const redirectUri = 'https://Fleet.example.test:443/api/v1/auth/oidc/callback';
  const begun = fleet.newCallback();
  const sent = await fleet.provider.authorizationUrl({ redirectUri, ...begun });
  const currentUrl = new URL(`${redirectUri}${begun.currentUrl.search}`);
  await fleet.provider.redeemCallback({ ...begun, currentUrl });
  expect(issuer.lastAt('/token')?.form.get('redirect_uri')).toBe(sent.searchParams.get('redirect_uri'));
});

test.each(['access_denied', 'login_required', 'interaction_required'])(
  'a sign-in that the provider ends with %s is rejected',
  async (error) => {
    await expect(fleet.signIn({ code: undefined, error })).rejects.toThrow(GrantRefused);
  },
);

test.each(['server_error', 'temporarily_unavailable', 'invalid_scope', 'unauthorized_client'])(
  'a sign-in that the provider ends with %s is not rejected for good',
  async (error) => {
    await expect(fleet.signIn({ code: undefined, error })).rejects.toThrow(ProviderUnavailable);
  },
);

test('the error description of a provider is not repeated', async () => {
  const query = { code: undefined, error: '<script>', error_description: 'the description' };
  const refusal = await fleet.signIn(query).catch((error: Error) => error);
  expect(refusal).toMatchObject({ message: 'The provider ended the sign-in with an error (another error).' });
});

test('an error of the provider with another state is rejected like any other callback', async () => {
  const answer = fleet.signIn({ code: undefined, error: 'server_error', state: 'another' });
  await expect(answer).rejects.toThrow(GrantRefused);
});

import { GrantRefused } from '@svc/auth/oidc';
import { secrets } from './secrets.ts';
import { startOidcWorld } from './world.ts';

const { issuer, aFleet } = await startOidcWorld();
const fleet = aFleet();
const REDIRECT = 'https://app.example.test/signed-in';

/**
 * The code of a frontend that sent no nonce, with an ID token without a nonce, and the given
 * changes.
 */
function redeem(given: { nonce?: string; iss?: string; redirectUri?: string; codeVerifier?: string } = {}) {
  const { codeVerifier } = secrets();
  return fleet.provider.redeemCode({ code: 'a-code', codeVerifier, redirectUri: REDIRECT, ...given });
}
const tellNonce = (nonce: string | undefined) =>
  issuer.bend('/token', async () => issuer.tokens({ id_token: await issuer.idToken({ nonce }) }));

test('the code of a frontend returns the claims of the user', async () => {
  tellNonce(undefined);
  expect(await redeem()).toEqual({
    claims: { iss: issuer.url, sub: 'ada', name: 'Ada' },
    refreshToken: 'refresh-1',
  });
});

test.each([
  'https://app.example.test',
  'https://app.example.test/?page=signed-in',
  'https://App.example.test:443/a/../b',
  'com.example.app:/signed-in',
  'urn:ietf:wg:oauth:2.0:oob',
])('the redirect URI %s is sent to the provider unchanged', async (redirectUri) => {
  tellNonce(undefined);
  await redeem({ redirectUri });
  expect(issuer.lastAt('/token')?.form.getAll('redirect_uri')).toEqual([redirectUri]);
});

test('a redirect URI cannot add other parameters', async () => {
  tellNonce(undefined);
  await redeem({ redirectUri: 'https://app.example.test/?code=another&iss=other&error=x#code=third' });
  expect(issuer.lastAt('/token')?.form.getAll('code')).toEqual(['a-code']);
});

test('a nonce that the frontend sent is compared', async () => {
  tellNonce('the-nonce');
  expect((await redeem({ nonce: 'the-nonce' })).claims.sub).toBe('ada');
  await expect(redeem({ nonce: 'another' })).rejects.toThrow(GrantRefused);
});

test('an ID token with a nonce is rejected if the frontend does not send the nonce', async () => {
  tellNonce('the-nonce');
  await expect(redeem()).rejects.toThrow(GrantRefused);
});

test('an issuer that the frontend received is compared (a mix-up)', async () => {
  tellNonce(undefined);
  expect((await redeem({ iss: issuer.url })).claims.sub).toBe('ada');
  const before = issuer.countOf('/token');
  await expect(redeem({ iss: 'https://other.example.test' })).rejects.toThrow(GrantRefused);
  expect(issuer.countOf('/token')).toBe(before);
});

test.each(['', 'too-short'])(
  'an invalid code verifier is rejected before anything is sent: "%s"',
  async (codeVerifier) => {
    const before = issuer.countOf('/token');
    await expect(redeem({ codeVerifier })).rejects.toThrow(GrantRefused);
    expect(issuer.countOf('/token')).toBe(before);
  },
);

test('an empty code is rejected', async () => {
  const { codeVerifier } = secrets();
  const redeemed = fleet.provider.redeemCode({ code: '', codeVerifier, redirectUri: REDIRECT });
  await expect(redeemed).rejects.toThrow(GrantRefused);
});

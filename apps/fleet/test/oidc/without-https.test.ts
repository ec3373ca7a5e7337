import { createProvider, ProviderUnavailable } from '@svc/auth/oidc';
import type { Send } from '@svc/contract';
import { REDIRECT } from './fleet.ts';
import { secrets } from './secrets.ts';
import { aSigner } from './signer.ts';

const ISSUER = 'https://id.example.test';
const METADATA = {
  issuer: ISSUER,
  authorization_endpoint: `${ISSUER}/authorize`,
  token_endpoint: `${ISSUER}/token`,
  jwks_uri: `${ISSUER}/keys`,
};

/** A provider with these metadata, and the requests that it receives. */
function aProviderWith(metadata: object) {
  const requestedUrls: string[] = [];
  const send: Send = async ({ url }) => {
    requestedUrls.push(url.href);
    return { status: 200, headers: {}, body: JSON.stringify({ ...METADATA, ...metadata }) };
  };
  const settings = { issuer: ISSUER, clientId: 'fleet', audience: 'https://fleet.example.test', allowUserinfo: true };
  return { provider: createProvider(settings, { send }), asked: requestedUrls };
}

test('an authorization URL is made for a provider with only https endpoints', async () => {
  const { provider } = aProviderWith({});
  expect((await provider.authorizationUrl({ redirectUri: REDIRECT, ...secrets() })).origin).toBe(ISSUER);
});

test.each(['authorization_endpoint', 'token_endpoint', 'jwks_uri', 'userinfo_endpoint', 'introspection_endpoint'])(
  'a provider with an https issuer and a %s without https is rejected',
  async (name) => {
    const { provider, asked: requestedUrls } = aProviderWith({ [name]: 'HTTP://id.example.test/bare' });
    await expect(provider.authorizationUrl({ redirectUri: REDIRECT, ...secrets() })).rejects.toThrow(
      ProviderUnavailable,
    );
    await expect(provider.verifyBearer('opaque')).rejects.toThrow(ProviderUnavailable);
    expect(requestedUrls).toEqual([`${ISSUER}/.well-known/openid-configuration`]);
  },
);

test('keys are never fetched without https', async () => {
  const { provider, asked: requestedUrls } = aProviderWith({ jwks_uri: 'HTTP://id.example.test/keys' });
  const token = await (await aSigner('a-key')).sign({ iss: ISSUER, sub: 'ada' });
  await expect(provider.verifyBearer(token)).rejects.toThrow(ProviderUnavailable);
  expect(requestedUrls).toEqual([`${ISSUER}/.well-known/openid-configuration`]);
});

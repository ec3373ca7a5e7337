import { createProvider, type ProviderSettings } from '@svc/auth/oidc';
import { createOutbound } from '@svc/http';
import { startIdentityProvider } from '@svc/identity-provider/server';
import { signInByBrowser } from '@svc/testing';
import { secrets } from '../secrets.ts';
import { aRecorder } from './recorder.ts';

export const REDIRECT = 'http://127.0.0.1:4200/api/v1/auth/oidc/callback';
export const AUDIENCE = 'https://fleet.example.test';
const CLIENT_SECRET = 'the-secret of the fleet: +/%';
const PASSWORD = 'development';

/** The development identity provider, and the fleet as its client. */
export async function startDevelopmentProvider(changed: Partial<ProviderSettings> = {}) {
  const identityProvider = await startIdentityProvider({
    port: 0,
    host: '127.0.0.1',
    audiences: [AUDIENCE],
    redirectUris: [REDIRECT],
    fleetClientSecret: CLIENT_SECRET,
    password: PASSWORD,
  });
  const { issuer } = identityProvider;
  const outbound = createOutbound({ timeoutMs: 2000, maxBytes: 512 * 1024 });
  const recorder = aRecorder(outbound.send);
  const settings = { issuer, clientId: 'fleet', clientSecret: CLIENT_SECRET, audience: AUDIENCE, allowUserinfo: false };
  const provider = createProvider({ ...settings, ...changed }, { send: recorder.send });

  /** A sign-in up to the callback. */
  const browse = async (email: string) => {
    const wanted = secrets();
    const url = await provider.authorizationUrl({ redirectUri: REDIRECT, ...wanted });
    return { ...wanted, currentUrl: await signInByBrowser(url, REDIRECT, { email, password: PASSWORD }) };
  };
  return {
    issuer,
    settings,
    provider,
    recorder,
    browse,
    signIn: async (email: string) => provider.redeemCallback(await browse(email)),
    stop: async () => {
      await outbound.close();
      await identityProvider.stop();
    },
  };
}

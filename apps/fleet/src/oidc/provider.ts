import { createKeySource } from '@svc/auth';
import type { Send } from '@svc/contract';
import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  refreshTokenGrant,
} from 'openid-client';
import { type Bearer, createBearerVerifier } from './bearer.ts';
import { type Check, testProvider } from './checks.ts';
import type { Claims } from './claims.ts';
import { createClient } from './client.ts';
import { GrantRefused } from './errors.ts';
import { personOf, refreshedPerson, type SignedIn } from './grants.ts';
import { createMetadataSource, type Metadata } from './metadata.ts';
import { secureAs } from './provider-fetch.ts';
import type { ProviderSettings } from './settings.ts';

export type { Claims } from './claims.ts';
export { GrantRefused, ProviderUnavailable } from './errors.ts';
export type { SignedIn } from './grants.ts';
export type { ProviderSettings } from './settings.ts';

/** An OpenID Connect provider. What it is asked rejects with GrantRefused or with ProviderUnavailable. */
export interface Provider {
  /** Where to send a browser that is to sign in: authorization code with PKCE (S256), state and nonce. */
  authorizationUrl(wanted: {
    readonly redirectUri: string;
    readonly state: string;
    readonly nonce: string;
    readonly codeVerifier: string;
  }): Promise<URL>;
  /** Ends a sign-in that we began: `currentUrl` is the redirect URI with the query that the browser came back with. */
  redeemCallback(given: {
    readonly currentUrl: URL;
    readonly state: string;
    readonly nonce: string;
    readonly codeVerifier: string;
  }): Promise<SignedIn>;
  /** Ends a sign-in that a frontend began: with its nonce where it sent one, and the issuer where it was told one. */
  redeemCode(given: {
    readonly code: string;
    readonly codeVerifier: string;
    readonly redirectUri: string;
    readonly nonce?: string | undefined;
    readonly iss?: string | undefined;
  }): Promise<SignedIn>;
  /** The person anew, and what to refresh with next time. A refresh token is never sent to another issuer than its own. */
  refresh(refreshToken: string, known: Claims): Promise<SignedIn>;
  /** Whose access token it is; undefined for one that is good for nothing here. */
  verifyBearer(token: string): Promise<Bearer | undefined>;
  /** Tries everything anew, and says what is right and what is wrong in words that an operator can act on. */
  test(): Promise<readonly Check[]>;
  /** Whether the provider's metadata or keys could not be fetched last time. */
  failing(): boolean;
}

export function createProvider(
  settings: ProviderSettings,
  options: { readonly send: Send; readonly now?: () => number },
): Provider {
  const { issuer, clientId, clientSecret } = settings;
  const now = options.now ?? Date.now;
  const send = secureAs(issuer, options.send);
  const metadata = createMetadataSource({ issuer, send, now });
  const client = createClient({ clientId, clientSecret, metadata, send });
  // Apart, so that strangers who send tokens with unknown keys don't use up the fetches of those who sign in.
  const bearerKeys = createKeySource({ issuer, send, now });
  const signInKeys = createKeySource({ issuer, send, now });
  const context = { issuer, client, keys: signInKeys };

  return {
    authorizationUrl: async ({ redirectUri, state, nonce, codeVerifier }) => {
      const parameters = {
        redirect_uri: new URL(redirectUri).href, // as the token request will repeat it
        scope: scopeFor(await client.metadata()),
        state,
        nonce,
        code_challenge: await calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
      };
      return client.call((configuration) => buildAuthorizationUrl(configuration, parameters));
    },
    redeemCallback: async ({ currentUrl, state, nonce, codeVerifier }) => {
      const checks = { expectedState: state, expectedNonce: nonce, ...proof(codeVerifier) };
      const tokens = await client.call((configuration) => authorizationCodeGrant(configuration, currentUrl, checks));
      return personOf(tokens, context);
    },
    redeemCode: async ({ code, codeVerifier, redirectUri, nonce, iss = issuer }) => {
      const callback = new URL(issuer);
      callback.search = new URLSearchParams({ code, iss }).toString(); // the frontend has compared its state itself
      const checks = { ...(nonce === undefined ? {} : { expectedNonce: nonce }), ...proof(codeVerifier) };
      const redeem = client.call((configuration) => authorizationCodeGrant(configuration, callback, checks), {
        redirect_uri: redirectUri, // providers compare it to the letter, which a URL object would not keep
      });
      return personOf(await redeem, context);
    },
    refresh: async (refreshToken, known) => {
      if (known.iss !== issuer) throw new GrantRefused('The refresh token is another provider’s.');
      const tokens = await client.call((configuration) => refreshTokenGrant(configuration, refreshToken));
      return refreshedPerson(tokens, { known, refreshToken }, context);
    },
    verifyBearer: createBearerVerifier({ settings, client, keys: bearerKeys, now }),
    test: () => testProvider(settings, send),
    failing: () => metadata.failing() || bearerKeys.failing() || signInKeys.failing(),
  };
}

const SCOPES = ['openid', 'email', 'profile', 'offline_access'];

/** What we ask for, without what the provider says that it does not know. */
const scopeFor = ({ scopes_supported: supported }: Metadata) =>
  SCOPES.filter((scope) => scope === 'openid' || !supported || supported.includes(scope)).join(' ');

/** What every redeemed code must have. openid-client would leave PKCE out for a verifier that is empty. */
function proof(codeVerifier: string) {
  if (!/^[\w.~-]{43,128}$/.test(codeVerifier)) throw new GrantRefused('The code verifier is none (RFC 7636).');
  return { pkceCodeVerifier: codeVerifier, idTokenExpected: true };
}

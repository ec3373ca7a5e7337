import type { Send } from '@svc/contract';
import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  refreshTokenGrant,
} from 'openid-client';
import { createKeySource } from '../key-source.ts';
import { commonStatus, type Probed } from '../provider-status.ts';
import { type Bearer, createBearerVerifier } from './bearer.ts';
import { type Check, testProvider } from './checks.ts';
import type { Claims } from './claims.ts';
import { createClient, type ProviderSettings } from './client.ts';
import { GrantRefused } from './errors.ts';
import { refreshedUser, type SignedIn, signedInUser } from './grants.ts';
import { createMetadataSource, type Metadata } from './metadata.ts';
import { requireHttpsFor } from './provider-fetch.ts';

export type { Claims } from './claims.ts';
export type { ProviderSettings } from './client.ts';
export { GrantRefused, ProviderUnavailable } from './errors.ts';
export type { SignedIn } from './grants.ts';

/** An OpenID Connect provider. Its methods reject with GrantRefused or ProviderUnavailable. */
export interface Provider extends Probed {
  /** The URL of an authorization request for the code flow with PKCE (S256), state and nonce. */
  authorizationUrl(parameters: {
    readonly redirectUri: string;
    readonly state: string;
    readonly nonce: string;
    readonly codeVerifier: string;
  }): Promise<URL>;
  /**
   * Completes a sign-in that the fleet started. `currentUrl` is the redirect URI with the query of
   * the callback.
   */
  redeemCallback(given: {
    readonly currentUrl: URL;
    readonly state: string;
    readonly nonce: string;
    readonly codeVerifier: string;
  }): Promise<SignedIn>;
  /**
   * Completes a sign-in that a frontend started. `nonce` is the nonce that it sent, if any. `iss`
   * is the issuer in the callback, if any (RFC 9207).
   */
  redeemCode(given: {
    readonly code: string;
    readonly codeVerifier: string;
    readonly redirectUri: string;
    readonly nonce?: string | undefined;
    readonly iss?: string | undefined;
  }): Promise<SignedIn>;
  /**
   * Refreshes the claims of a person. A refresh token is sent only to the issuer that issued it.
   */
  refresh(refreshToken: string, known: Claims): Promise<SignedIn>;
  /** Verifies an access token. Resolves to undefined for a token that the fleet does not accept. */
  verifyBearer(token: string): Promise<Bearer | undefined>;
  /**
   * Checks the provider and its settings without cached data. The details are written for
   * operators.
   */
  test(): Promise<readonly Check[]>;
}

export function createProvider(
  settings: ProviderSettings,
  options: {
    readonly send: Send;
    readonly now?: () => number;
    /** Milliseconds between the starts of two fetches of its keys. Default: that of `createKeySource`. */
    readonly keyIntervalMs?: number;
  },
): Provider {
  const { issuer, clientId, clientSecret, offlineAccess = true } = settings;
  const now = options.now ?? Date.now;
  const send = requireHttpsFor(issuer, options.send);
  const metadata = createMetadataSource({ issuer, send, now });
  const client = createClient({ clientId, clientSecret, metadata: metadata.get, send });
  // Separate key sources, so that bearer tokens with unknown keys cannot exhaust the rate limit of
  // fetches for sign-ins.
  const keySource = { issuer, send, now, intervalMs: options.keyIntervalMs };
  const bearerKeys = createKeySource(keySource);
  const signInKeys = createKeySource(keySource);
  const context = { issuer, client, keys: signInKeys };

  return {
    authorizationUrl: async ({ redirectUri, state, nonce, codeVerifier }) => {
      const parameters = {
        // The normalized form, which openid-client repeats in the token request.
        redirect_uri: new URL(redirectUri).href,
        scope: scopeFor(await client.metadata(), offlineAccess),
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
      return signedInUser(tokens, context);
    },
    redeemCode: async ({ code, codeVerifier, redirectUri, nonce, iss = issuer }) => {
      const callback = new URL(issuer);
      // Without state, which the frontend has compared.
      callback.search = new URLSearchParams({ code, iss }).toString();
      const checks = { ...(nonce === undefined ? {} : { expectedNonce: nonce }), ...proof(codeVerifier) };
      const redeem = client.call((configuration) => authorizationCodeGrant(configuration, callback, checks), {
        // Providers compare the exact string, which a URL object would normalize.
        redirect_uri: redirectUri,
      });
      return signedInUser(await redeem, context);
    },
    refresh: async (refreshToken, known) => {
      if (known.iss !== issuer) throw new GrantRefused('The refresh token is of another provider.');
      const tokens = await client.call((configuration) => refreshTokenGrant(configuration, refreshToken));
      return refreshedUser(tokens, { known, refreshToken }, context);
    },
    verifyBearer: createBearerVerifier({ settings, client, keys: bearerKeys, now }),
    test: () => testProvider(settings, send),
    probe: async () => {
      // A probe must not delay the fetch of a key for a bearer token, unless the last one failed.
      const others = bearerKeys.status().problem === undefined ? [] : [bearerKeys.probe()];
      await Promise.all([metadata.refresh(), signInKeys.probe(), ...others]);
    },
    status: () => commonStatus([metadata, signInKeys, bearerKeys].map((source) => source.status())),
  };
}

const SCOPES = ['openid', 'email', 'profile'];

/** The scopes to request, without those that the metadata of the provider do not list. */
const scopeFor = ({ scopes_supported: supported }: Metadata, offlineAccess: boolean) =>
  [...SCOPES, ...(offlineAccess ? ['offline_access'] : [])]
    .filter((scope) => scope === 'openid' || !supported || supported.includes(scope))
    .join(' ');

/**
 * The checks for every authorization code. openid-client would omit PKCE for an empty verifier, so
 * it is validated here.
 */
function proof(codeVerifier: string) {
  if (!/^[\w.~-]{43,128}$/.test(codeVerifier))
    throw new GrantRefused('The code verifier is invalid (RFC 7636, section 4.1).');
  return { pkceCodeVerifier: codeVerifier, idTokenExpected: true };
}

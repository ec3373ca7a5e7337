import type { IDToken, TokenEndpointResponse, TokenEndpointResponseHelpers } from 'openid-client';
import type { KeySource } from '../key-source.ts';
import { type Claims, claimsOf, fetchUserinfo, subject } from './claims.ts';
import { type Client, checkSignature } from './client.ts';
import { GrantRefused, ProviderUnavailable } from './errors.ts';
import type { Members } from './provider-fetch.ts';

/** The result of a sign-in or refresh. */
export interface SignedIn {
  readonly claims: Claims;
  /**
   * The refresh token to use next. If a refresh returns no new one, the previous one stays valid.
   */
  readonly refreshToken: string | undefined;
}

export type Tokens = TokenEndpointResponse & TokenEndpointResponseHelpers;

interface Context {
  readonly issuer: string;
  readonly client: Client;
  readonly keys: KeySource;
}

/**
 * The person of the tokens of a sign-in. Claims of the ID token take precedence over userinfo,
 * which is optional.
 */
export async function signedInUser(tokens: Tokens, { issuer, client, keys }: Context): Promise<SignedIn> {
  const idToken = await verifiedIdToken(tokens, keys);
  if (!idToken) throw new ProviderUnavailable('The token response of the provider contains no ID token.');
  const userinfo = await readUserinfo(tokens, client, idToken.sub).catch(unlessUnavailable(undefined));
  return { claims: storableClaims({ ...userinfo, ...idToken }, issuer), refreshToken: tokens.refresh_token };
}

/**
 * The person of refreshed tokens. If new claims are absent or cannot be verified because the
 * provider is unavailable, the known claims stay. A new refresh token is never lost because of
 * that.
 */
export async function refreshedUser(
  tokens: Tokens,
  before: { readonly known: Claims; readonly refreshToken: string },
  { issuer, client, keys }: Context,
): Promise<SignedIn> {
  const { known } = before;
  const refreshToken = tokens.refresh_token ?? before.refreshToken;
  const idToken = await verifiedIdToken(tokens, keys).catch(unlessUnavailable('unchecked' as const));
  if (idToken === 'unchecked') return { claims: known, refreshToken };
  if (idToken && idToken.sub !== known.sub) throw new GrantRefused('The refreshed ID token has another subject.');
  // While userinfo is unavailable, the claims that only userinfo contains are assumed to be
  // unchanged.
  const userinfo = await readUserinfo(tokens, client, known.sub).catch(unlessUnavailable(known));
  return {
    claims: idToken || userinfo ? storableClaims({ sub: known.sub, ...userinfo, ...idToken }, issuer) : known,
    refreshToken,
  };
}

async function verifiedIdToken(tokens: Tokens, keys: KeySource): Promise<IDToken | undefined> {
  const idToken = tokens.claims();
  if (!idToken || tokens.id_token === undefined) return undefined;
  await checkSignature(tokens.id_token, keys);
  if (!subject.safeParse(idToken.sub).success) throw new GrantRefused('The ID token has no valid subject.');
  return idToken;
}

async function readUserinfo(tokens: Tokens, client: Client, sub: string): Promise<Members | undefined> {
  const { userinfo_endpoint } = await client.metadata();
  if (userinfo_endpoint === undefined) return undefined;
  return client.call((configuration) => fetchUserinfo(configuration, tokens.access_token, sub));
}

/** Returns the fallback if the provider is unavailable, and rethrows any other error. */
const unlessUnavailable =
  <T>(fallback: T) =>
  (error: unknown): T => {
    if (error instanceof ProviderUnavailable) return fallback;
    throw error;
  };

function storableClaims(idToken: Members, issuer: string): Claims {
  const claims = claimsOf(idToken, issuer);
  if (!claims) throw new GrantRefused('The claims have no valid subject, or are larger than 16 KiB.');
  return claims;
}

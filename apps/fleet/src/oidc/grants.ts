import type { KeySource } from '@svc/auth';
import type { IDToken, TokenEndpointResponse, TokenEndpointResponseHelpers } from 'openid-client';
import { askUserinfo, type Claims, claimsOf, subject } from './claims.ts';
import { type Client, checkSignature } from './client.ts';
import { GrantRefused, ProviderUnavailable } from './errors.ts';
import type { Members } from './provider-fetch.ts';

/** Who signed in. */
export interface SignedIn {
  readonly claims: Claims;
  /** What to refresh with next time: after a refresh the new one, or the old one where it stays good. */
  readonly refreshToken: string | undefined;
}

export type Tokens = TokenEndpointResponse & TokenEndpointResponseHelpers;

interface Context {
  readonly issuer: string;
  readonly client: Client;
  readonly keys: KeySource;
}

/** Who stands behind the tokens that a code was redeemed for: the ID token's word first, and userinfo's where it answers. */
export async function personOf(tokens: Tokens, { issuer, client, keys }: Context): Promise<SignedIn> {
  const told = await toldByIdToken(tokens, keys);
  if (!told) throw new ProviderUnavailable('The provider sends no ID token.');
  const more = await toldByUserinfo(tokens, client, told.sub).catch(unlessAway(undefined));
  return { claims: kept({ ...more, ...told }, issuer), refreshToken: tokens.refresh_token };
}

/**
 * Who stands behind refreshed tokens. Where nothing new is told what was known stays; a new refresh token is never lost
 * over that.
 */
export async function refreshedPerson(
  tokens: Tokens,
  before: { readonly known: Claims; readonly refreshToken: string },
  { issuer, client, keys }: Context,
): Promise<SignedIn> {
  const { known } = before;
  const refreshToken = tokens.refresh_token ?? before.refreshToken;
  const told = await toldByIdToken(tokens, keys).catch(unlessAway('unchecked' as const));
  if (told === 'unchecked') return { claims: known, refreshToken };
  if (told && told.sub !== known.sub) throw new GrantRefused('The refreshed ID token is somebody else’s.');
  // While userinfo is away, what only it tells is taken as unchanged.
  const more = await toldByUserinfo(tokens, client, known.sub).catch(unlessAway(known));
  return { claims: told || more ? kept({ sub: known.sub, ...more, ...told }, issuer) : known, refreshToken };
}

async function toldByIdToken(tokens: Tokens, keys: KeySource): Promise<IDToken | undefined> {
  const told = tokens.claims();
  if (!told || tokens.id_token === undefined) return undefined;
  await checkSignature(tokens.id_token, keys);
  if (!subject.safeParse(told.sub).success) throw new GrantRefused('The ID token names nobody.');
  return told;
}

async function toldByUserinfo(tokens: Tokens, client: Client, sub: string): Promise<Members | undefined> {
  const { userinfo_endpoint } = await client.metadata();
  if (userinfo_endpoint === undefined) return undefined;
  return client.call((configuration) => askUserinfo(configuration, tokens.access_token, sub));
}

/** An absent provider is no reason to fail; anything else is. */
const unlessAway =
  <T>(instead: T) =>
  (error: unknown): T => {
    if (error instanceof ProviderUnavailable) return instead;
    throw error;
  };

function kept(told: Members, issuer: string): Claims {
  const claims = claimsOf(told, issuer);
  if (!claims) throw new GrantRefused('The claims name nobody, or are larger than 16 kB.');
  return claims;
}

import { createJwtVerifier, isJwtShaped, type KeySource } from '@svc/auth';
import { Problem } from '@svc/http';
import { decodeProtectedHeader } from 'jose';
import { tokenIntrospection } from 'openid-client';
import { type Answer, createAnswerCache } from './answer-cache.ts';
import { type Claims, claimsOf, issuedAtOf } from './claims.ts';
import type { Client } from './client.ts';
import { GrantRefused, ProviderUnavailable } from './errors.ts';
import { readIntrospection } from './introspection.ts';
import type { Members } from './reach.ts';
import type { ProviderSettings } from './settings.ts';
import { askUserinfo } from './userinfo.ts';

/** Whose access token it is. */
export interface Bearer {
  readonly claims: Claims;
  readonly issuedAt: number | undefined;
}

interface BearerOptions {
  readonly settings: ProviderSettings;
  readonly client: Client;
  readonly keys: KeySource;
  readonly now: () => number;
}

const REMEMBERED_MS = 30_000;
const REMEMBERED_ENTRIES = 10_000;

/** Verifies access tokens of the provider. Resolves to undefined for a token that is good for nothing. */
export function createBearerVerifier(options: BearerOptions): (token: string) => Promise<Bearer | undefined> {
  const { now } = options;
  const remembered = createAnswerCache<Bearer | undefined>({
    ms: REMEMBERED_MS,
    entries: REMEMBERED_ENTRIES,
    now,
  });
  const verifyJwt = jwtVerifier(options);
  return (token) => (isJwtShaped(token) ? verifyJwt(token) : remembered(token, () => askAbout(token, options)));
}

function jwtVerifier({ settings, keys }: BearerOptions): (token: string) => Promise<Bearer | undefined> {
  const { issuer, audience, clientId } = settings;
  if (audience === undefined) return () => Promise.resolve(undefined);
  const verify = createJwtVerifier({ issuer, audience, keys: keys.keyFor });
  return async (token) => {
    const said = await verify(token).catch((error: unknown) => {
      throw error instanceof Problem ? new ProviderUnavailable(error.message, { cause: error.cause }) : error;
    });
    if (!said || (audience === clientId && !isAccessToken(token, said))) return undefined;
    return bearerOf(said, issuer);
  };
}

/** ID tokens have the client as their audience too: with that one alone, a token must show that it is none. */
const isAccessToken = (token: string, said: Members): boolean =>
  /^(?:application\/)?at\+jwt$/i.test(decodeProtectedHeader(token).typ ?? '') ||
  said.typ === 'Bearer' ||
  ['scope', 'scp', 'client_id'].some((name) => name in said);

/** An opaque token: the provider alone knows. */
async function askAbout(token: string, options: BearerOptions): Promise<Answer<Bearer | undefined>> {
  const { settings, client } = options;
  const { introspection_endpoint, userinfo_endpoint } = await client.metadata();
  // Introspection is for whom the provider can tell from a stranger (RFC 7662, section 2.1).
  if (introspection_endpoint !== undefined && settings.clientSecret !== undefined) return introspect(token, options);
  if (userinfo_endpoint === undefined || !settings.allowUserinfo) return { value: undefined };
  const said = await client.call((configuration) => askUserinfo(configuration, token, undefined));
  return { value: said && bearerOf(said, settings.issuer) };
}

async function introspect(
  token: string,
  { settings, client, now }: BearerOptions,
): Promise<Answer<Bearer | undefined>> {
  const hint = { token_type_hint: 'access_token' };
  const said = await client
    .call((configuration) => tokenIntrospection(configuration, token, hint))
    .catch((error: unknown) => {
      // Nobody asked for a grant: such an answer says nothing of the token.
      throw error instanceof GrantRefused ? new ProviderUnavailable(error.message) : error;
    });
  const good = readIntrospection(said, settings, now());
  return good ? { value: bearerOf(good.said, settings.issuer), until: good.until } : { value: undefined };
}

function bearerOf(said: Members, issuer: string): Bearer | undefined {
  const claims = claimsOf(said, issuer);
  return claims && { claims, issuedAt: issuedAtOf(said) };
}

import { createHash } from 'node:crypto';
import { createJwtVerifier, isJwtShaped, type KeySource } from '@svc/auth';
import { Problem } from '@svc/http';
import { decodeProtectedHeader } from 'jose';
import { LRUCache } from 'lru-cache';
import { tokenIntrospection } from 'openid-client';
import { z } from 'zod';
import { askUserinfo, type Claims, claimsOf, issuedAtOf, subject } from './claims.ts';
import type { Client } from './client.ts';
import { GrantRefused, ProviderUnavailable } from './errors.ts';
import type { Members } from './provider-fetch.ts';
import type { ProviderSettings } from './settings.ts';

/** A cached value. `until` is the time after which it must not be used, in milliseconds since 1970. */
export interface Answer<T> {
  readonly value: T;
  readonly until?: number;
}

/**
 * Caches answers about secrets under the SHA-256 of the secret, for `ms` from the question. Concurrent questions about the
 * same secret share one answer. Failures are not cached.
 */
export function createAnswerCache<T>(options: {
  readonly ms: number;
  readonly entries: number;
  readonly now: () => number;
}): (secret: string, ask: () => Promise<Answer<T>>) => Promise<T> {
  const { ms, entries, now } = options;
  const cache = new LRUCache<string, { readonly asked: Promise<Answer<T>>; until: number }>({ max: entries });
  return async (secret, ask) => {
    const key = createHash('sha256').update(secret).digest('base64url');
    const cached = cache.get(key);
    if (cached && cached.until > now()) return (await cached.asked).value;
    const entry = { asked: ask(), until: now() + ms };
    cache.set(key, entry);
    try {
      const { value, until = entry.until } = await entry.asked;
      entry.until = Math.min(entry.until, until);
      return value;
    } catch (error) {
      if (cache.peek(key) === entry) cache.delete(key);
      throw error;
    }
  };
}

const activeToken = z.looseObject({
  active: z.literal(true),
  // A refresh token is active too: only this tells it from an access token.
  token_type: z.string().regex(/^(?:bearer|access_token)$/i),
  token_use: z.enum(['access_token', 'access']).optional(),
  sub: subject,
  iss: z.string().optional(),
  exp: z.number().optional(),
  nbf: z.number().optional(),
  aud: z.union([z.string().transform((one) => [one]), z.array(z.string())]).default([]),
  client_id: z.string().optional(),
});

/** What introspection tells of an access token that is good here, and until when; undefined of any other (RFC 7662). */
function readIntrospection(
  said: Members,
  settings: ProviderSettings,
  now: number,
): { readonly said: Members; readonly until: number } | undefined {
  const token = activeToken.safeParse(said);
  if (!token.success) return undefined;
  const { iss = settings.issuer, exp = Number.POSITIVE_INFINITY, nbf = 0, aud, client_id } = token.data;
  const until = exp * 1000;
  if (iss !== settings.issuer || until <= now || nbf * 1000 > now + 5000) return undefined;
  const isForUs =
    aud.length > 0
      ? aud.some((one) => one === settings.audience || one === settings.clientId)
      : client_id === settings.clientId;
  return isForUs ? { said, until } : undefined;
}

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

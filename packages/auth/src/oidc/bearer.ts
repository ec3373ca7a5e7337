import { createHash } from 'node:crypto';
import { Problem } from '@svc/http';
import { decodeProtectedHeader } from 'jose';
import { LRUCache } from 'lru-cache';
import { tokenIntrospection } from 'openid-client';
import { z } from 'zod';
import { createJwtVerifier, isJwtShaped } from '../jwt.ts';
import type { KeySource } from '../key-source.ts';
import { type Claims, claimsOf, fetchUserinfo, issuedAtOf, subject } from './claims.ts';
import type { Client, ProviderSettings } from './client.ts';
import { GrantRefused, ProviderUnavailable } from './errors.ts';
import type { Members } from './provider-fetch.ts';

/**
 * A cached value. `until` is the time after which it must not be used, in milliseconds since 1970.
 */
export interface CachedAnswer<T> {
  readonly value: T;
  readonly until?: number;
}

/**
 * Caches results about secrets under the SHA-256 of the secret, for `ms` milliseconds from the
 * start of the request. Concurrent requests about the same secret share one result. Failures are
 * not cached.
 */
export function createVerificationCache<T>(options: {
  readonly ms: number;
  readonly entries: number;
  readonly now: () => number;
}): (secret: string, ask: () => Promise<CachedAnswer<T>>) => Promise<T> {
  const { ms, entries, now } = options;
  const cache = new LRUCache<string, { readonly answer: Promise<CachedAnswer<T>>; until: number }>({ max: entries });
  return async (secret, ask) => {
    const key = createHash('sha256').update(secret).digest('base64url');
    const cached = cache.get(key);
    if (cached && cached.until > now()) return (await cached.answer).value;
    const entry = { answer: ask(), until: now() + ms };
    cache.set(key, entry);
    try {
      const { value, until = entry.until } = await entry.answer;
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
  // A refresh token can be active too. Only its type distinguishes it from an access token.
  token_type: z.string().regex(/^(?:bearer|access_token)$/i),
  token_use: z.enum(['access_token', 'access']).optional(),
  // A token that is bound to a key requires a proof of possession (RFC 7800), which the fleet
  // cannot verify.
  cnf: z.undefined().optional(),
  sub: subject,
  iss: z.string().optional(),
  exp: z.number().optional(),
  nbf: z.number().optional(),
  aud: z.union([z.string().transform((audience) => [audience]), z.array(z.string())]).default([]),
  client_id: z.string().optional(),
});

/**
 * The members of an introspection response for an access token that this fleet accepts, and the
 * time of its expiry in milliseconds since 1970; undefined for any other token (RFC 7662, section
 * 2.2).
 */
function readIntrospection(
  members: Members,
  settings: ProviderSettings,
  now: number,
): { readonly members: Members; readonly until: number; readonly isForMcp: boolean } | undefined {
  const token = activeToken.safeParse(members);
  if (!token.success) return undefined;
  const { iss = settings.issuer, exp = Number.POSITIVE_INFINITY, nbf = 0, aud, client_id } = token.data;
  const until = exp * 1000;
  if (iss !== settings.issuer || until <= now || nbf * 1000 > now + 5000) return undefined;
  const isForApi =
    aud.length > 0
      ? aud.some((audience) => audience === settings.audience || audience === settings.clientId)
      : client_id === settings.clientId;
  const isForMcp = !isForApi && settings.resource !== undefined && aud.includes(settings.resource);
  return isForApi || isForMcp ? { members, until, isForMcp } : undefined;
}

/** The person to whom an access token was issued, and when, in seconds since 1970. */
export interface Bearer {
  readonly claims: Claims;
  readonly issuedAt: number | undefined;
  /** Whether the token was issued for the MCP endpoint only, not for the API. */
  readonly isForMcp?: boolean;
}

interface BearerOptions {
  readonly settings: ProviderSettings;
  readonly client: Client;
  readonly keys: KeySource;
  readonly now: () => number;
}

const CACHE_MS = 30_000;
const CACHE_ENTRIES = 10_000;

/**
 * Verifies access tokens of the provider. Resolves to undefined for a token that the fleet does not
 * accept.
 */
export function createBearerVerifier(options: BearerOptions): (token: string) => Promise<Bearer | undefined> {
  const { now } = options;
  const cached = createVerificationCache<Bearer | undefined>({
    ms: CACHE_MS,
    entries: CACHE_ENTRIES,
    now,
  });
  const verifyJwt = jwtVerifier(options);
  return (token) => (isJwtShaped(token) ? verifyJwt(token) : cached(token, () => verifyOpaqueToken(token, options)));
}

function jwtVerifier({ settings, keys }: BearerOptions): (token: string) => Promise<Bearer | undefined> {
  const { issuer, audience, resource, clientId, maxTokenHours } = settings;
  const audiences = [audience, resource].filter((each) => each !== undefined);
  if (audiences.length === 0) return () => Promise.resolve(undefined);
  const verify = createJwtVerifier({ issuer, audience: audiences, keys, maxHours: maxTokenHours });
  return async (token) => {
    const members = await verify(token).catch((error: unknown) => {
      throw error instanceof Problem ? new ProviderUnavailable(error.message, { cause: error.cause }) : error;
    });
    if (!members || (audience === clientId && !isAccessToken(token, members))) return undefined;
    return bearerOf(members, { issuer, isForMcp: audience === undefined || ![members.aud].flat().includes(audience) });
  };
}

/**
 * Whether a JWT is marked as an access token, by its type (RFC 9068) or by claims that ID tokens do
 * not have. The audience cannot distinguish them if it is the client id, which is the audience of
 * ID tokens too.
 */
const isAccessToken = (token: string, members: Members): boolean =>
  /^(?:application\/)?at\+jwt$/i.test(decodeProtectedHeader(token).typ ?? '') ||
  members.typ === 'Bearer' ||
  ['scope', 'scp', 'client_id'].some((name) => name in members);

/** Verifies an opaque token with the introspection or userinfo endpoint of the provider. */
async function verifyOpaqueToken(token: string, options: BearerOptions): Promise<CachedAnswer<Bearer | undefined>> {
  const { settings, client } = options;
  const { introspection_endpoint, userinfo_endpoint } = await client.metadata();
  // The introspection endpoint requires client authentication (RFC 7662, section 2.1).
  if (introspection_endpoint !== undefined && settings.clientSecret !== undefined) return introspect(token, options);
  if (userinfo_endpoint === undefined || !settings.allowUserinfo) return { value: undefined };
  const members = await client.call((configuration) => fetchUserinfo(configuration, token, undefined));
  return { value: members && bearerOf(members, settings) };
}

async function introspect(
  token: string,
  { settings, client, now }: BearerOptions,
): Promise<CachedAnswer<Bearer | undefined>> {
  const hint = { token_type_hint: 'access_token' };
  const members = await client
    .call((configuration) => tokenIntrospection(configuration, token, hint))
    .catch((error: unknown) => {
      // No grant was requested, so this error states nothing about the token.
      throw error instanceof GrantRefused ? new ProviderUnavailable(error.message) : error;
    });
  const valid = readIntrospection(members, settings, now());
  if (!valid) return { value: undefined };
  return { value: bearerOf(valid.members, { ...settings, isForMcp: valid.isForMcp }), until: valid.until };
}

function bearerOf(
  members: Members,
  { issuer, isForMcp = false }: { readonly issuer: string; readonly isForMcp?: boolean },
): Bearer | undefined {
  const claims = claimsOf(members, issuer);
  return claims && { claims, issuedAt: issuedAtOf(members), ...(isForMcp && { isForMcp }) };
}

import { ClientError, type Configuration, fetchUserInfo, skipSubjectCheck } from 'openid-client';
import { z } from 'zod';
import { isStorable as isStorableText } from '../jwt.ts';
import type { Members } from './provider-fetch.ts';

/**
 * The claims of a provider about a person. `iss` and `sub` together identify the person (OpenID
 * Connect Core 1.0, section 2).
 */
export type Claims = Members & { readonly iss: string; readonly sub: string };

/** Maximum size of the stored claims of a person, in bytes of JSON. */
const MAX_BYTES = 16 * 1024;
const MAX_DEPTH = 32;

/** Members that describe a token or a sign-in instead of a person. */
const PROTOCOL = new Set([
  'acr',
  'active',
  'amr',
  'at_hash',
  'aud',
  'auth_time',
  'azp',
  'c_hash',
  'client_id',
  'cnf',
  'exp',
  'iat',
  'jti',
  'nbf',
  'nonce',
  's_hash',
  'scope',
  'sid',
  'token_type',
  'token_use',
  'typ',
]);

export const subject = z.string().min(1).max(255);

/**
 * The claims about a person in members that an issuer sent; undefined without a valid `sub`, or if
 * the claims are too large.
 */
export function claimsOf(received: Members, iss: string): Claims | undefined {
  const sub = subject.safeParse(received.sub);
  if (!sub.success || !isStorable(sub.data)) return undefined;
  const members = Object.entries(received).filter(([name, value]) => !PROTOCOL.has(name) && isStorable([name, value]));
  const claims = { ...Object.fromEntries(members), iss, sub: sub.data };
  return Buffer.byteLength(JSON.stringify(claims)) <= MAX_BYTES ? claims : undefined;
}

/** When a token was issued, in seconds since 1970. */
export const issuedAtOf = ({ iat }: Members): number | undefined => (typeof iat === 'number' ? iat : undefined);

/**
 * Whether PostgreSQL can store a value as jsonb: strings without NUL and lone surrogates, and
 * limited nesting.
 */
function isStorable(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return isStorableText(value);
  if (typeof value !== 'object' || value === null) return true;
  return (
    depth < MAX_DEPTH &&
    Object.entries(value)
      .flat()
      .every((part) => isStorable(part, depth + 1))
  );
}

/**
 * Error codes of openid-client: the request was refused, the subject is another one, the subject is
 * missing.
 */
const REFUSALS = ['OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED', 'OAUTH_INVALID_RESPONSE'];

/**
 * Fetches the userinfo for an access token (OpenID Connect Core 1.0, section 5.3). Resolves to
 * undefined if the provider refuses the token, or if the response is about another subject.
 */
export async function fetchUserinfo(
  configuration: Configuration,
  accessToken: string,
  sub: string | undefined,
): Promise<Members | undefined> {
  try {
    return await fetchUserInfo(configuration, accessToken, sub ?? skipSubjectCheck);
  } catch (error) {
    if (error instanceof ClientError && REFUSALS.includes(error.code ?? '')) return undefined;
    throw error;
  }
}

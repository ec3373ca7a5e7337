import type { FleetRole } from '@svc/contract/fleet';
import { ClientError, type Configuration, fetchUserInfo, skipSubjectCheck } from 'openid-client';
import { z } from 'zod';
import type { Members } from './provider-fetch.ts';

/** The claims of a provider about a person. `iss` and `sub` together identify the person (OpenID Connect Core 1.0, section 2). */
export type Claims = Members & { readonly iss: string; readonly sub: string };

/** Maximum size of the stored claims of a person, in bytes of JSON. */
const MAX_BYTES = 16 * 1024;
const MAX_DEPTH = 32;

/** Members that describe a token or a sign-in instead of a person. */
const PROTOCOL = new Set([
  ...['acr', 'active', 'amr', 'at_hash', 'aud', 'auth_time', 'azp', 'c_hash', 'client_id', 'cnf', 'exp', 'iat', 'jti'],
  ...['nbf', 'nonce', 's_hash', 'scope', 'sid', 'token_type', 'token_use', 'typ'],
]);

export const subject = z.string().min(1).max(255);

/** The claims about a person in members that an issuer sent; undefined without a valid `sub`, or if the claims are too large. */
export function claimsOf(received: Members, iss: string): Claims | undefined {
  const sub = subject.safeParse(received.sub);
  if (!sub.success || !isStorable(sub.data)) return undefined;
  const members = Object.entries(received).filter(([name, value]) => !PROTOCOL.has(name) && isStorable([name, value]));
  const claims = { ...Object.fromEntries(members), iss, sub: sub.data };
  return Buffer.byteLength(JSON.stringify(claims)) <= MAX_BYTES ? claims : undefined;
}

/** When a token was issued, in seconds since 1970. */
export const issuedAtOf = ({ iat }: Members): number | undefined => (typeof iat === 'number' ? iat : undefined);

/** Whether PostgreSQL can store a value as jsonb: strings without NUL and lone surrogates, and limited nesting. */
function isStorable(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return !/[\0\p{Surrogate}]/u.test(value);
  if (typeof value !== 'object' || value === null) return true;
  return (
    depth < MAX_DEPTH &&
    Object.entries(value)
      .flat()
      .every((part) => isStorable(part, depth + 1))
  );
}

/** Roles in ascending order of their permissions. */
export const ROLES_ASCENDING: readonly FleetRole[] = ['viewer', 'operator', 'admin'];

export interface RoleSettings {
  /** Name of a claim, or a path of names separated by dots to a nested claim. */
  readonly roleClaim: string;
  /** Maps values of the claim to roles. Without a map, the value of the claim is the role. */
  readonly roleMap?: Readonly<Record<string, FleetRole>> | null | undefined;
  /** The role of persons to whom the claim gives no role. */
  readonly defaultRole?: FleetRole | undefined;
}

/** The role that the claims of a person give. If they give several, the highest one. */
export function roleOf(
  claims: Readonly<Record<string, unknown>>,
  { roleClaim, roleMap, defaultRole }: RoleSettings,
): FleetRole | undefined {
  // `reduce` takes the type of its result from the initial value.
  const value = own(claims, roleClaim) ?? roleClaim.split('.').reduce(own, claims as unknown);
  const values = (Array.isArray(value) ? value : [value]).filter((text) => typeof text === 'string');
  const roles = values.map((text) => (roleMap ? own(roleMap, text) : text));
  return ROLES_ASCENDING.findLast((role) => roles.includes(role)) ?? defaultRole;
}

/** An own property of an object, never an inherited one. */
const own = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name] // every object can be read this way; the result stays unknown
    : undefined;

/** Error codes of openid-client: the request was refused, the subject is another one, the subject is missing. */
const REFUSALS = ['OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED', 'OAUTH_INVALID_RESPONSE'];

/**
 * Fetches the userinfo for an access token (OpenID Connect Core 1.0, section 5.3). Resolves to undefined if the provider refuses
 * the token, or if the response is about another subject.
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

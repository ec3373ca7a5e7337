import type { FleetRole } from '@svc/contract/fleet';
import { ClientError, type Configuration, fetchUserInfo, skipSubjectCheck } from 'openid-client';
import { z } from 'zod';
import type { Members } from './provider-fetch.ts';

/** What a provider says of a person, whom `iss` and `sub` name. */
export type Claims = Members & { readonly iss: string; readonly sub: string };

/** The most that is kept of a person, in bytes of JSON. */
const MAX_BYTES = 16 * 1024;
const MAX_DEPTH = 32;

/** Members that speak of a token or of a sign-in, not of a person. */
const PROTOCOL = new Set([
  ...['acr', 'active', 'amr', 'at_hash', 'aud', 'auth_time', 'azp', 'c_hash', 'client_id', 'cnf', 'exp', 'iat', 'jti'],
  ...['nbf', 'nonce', 's_hash', 'scope', 'sid', 'token_type', 'token_use', 'typ'],
]);

export const subject = z.string().min(1).max(255);

/** The claims among what an issuer said; undefined where nobody is named, or where it is more than can be kept. */
export function claimsOf(said: Members, iss: string): Claims | undefined {
  const sub = subject.safeParse(said.sub);
  if (!sub.success || !isStorable(sub.data)) return undefined;
  const members = Object.entries(said).filter(([name, value]) => !PROTOCOL.has(name) && isStorable([name, value]));
  const claims = { ...Object.fromEntries(members), iss, sub: sub.data };
  return Buffer.byteLength(JSON.stringify(claims)) <= MAX_BYTES ? claims : undefined;
}

/** When a token was issued, in seconds since 1970. */
export const issuedAtOf = ({ iat }: Members): number | undefined => (typeof iat === 'number' ? iat : undefined);

/** What PostgreSQL takes: text without NUL and lone surrogates, nested not too deep. */
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

/** From the least to the most. */
const RISING: readonly FleetRole[] = ['viewer', 'operator', 'admin'];

export interface RoleSettings {
  /** A claim by its name, or by dots into nested claims. */
  readonly roleClaim: string;
  /** Without one the claim's value is the role. */
  readonly roleMap?: Readonly<Record<string, FleetRole>> | null | undefined;
  /** For whom the claim gives no role. */
  readonly defaultRole?: FleetRole | undefined;
}

/** The role that a person's claims give: the highest of several. */
export function roleOf(
  claims: Readonly<Record<string, unknown>>,
  { roleClaim, roleMap, defaultRole }: RoleSettings,
): FleetRole | undefined {
  const value = own(claims, roleClaim) ?? roleClaim.split('.').reduce(own, claims as unknown);
  const words = (Array.isArray(value) ? value : [value]).filter((word) => typeof word === 'string');
  const given = words.map((word) => (roleMap ? own(roleMap, word) : word));
  return RISING.findLast((role) => given.includes(role)) ?? defaultRole;
}

/** A member of an object itself, never of what it inherits from. */
const own = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name] // any object may be read so; what comes is unknown
    : undefined;

/** openid-client's codes for: it was refused, it speaks of somebody else, it names nobody. */
const REFUSALS = ['OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED', 'OAUTH_INVALID_RESPONSE'];

/** What the provider says of the person of an access token; undefined where it refuses to, or speaks of somebody else. */
export async function askUserinfo(
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

import { z } from 'zod';
import type { Members } from './reach.ts';

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

import { hash } from 'node:crypto';
import { invalid, Problem } from '@svc/http';
import { serialize } from 'cookie';

/** The minutes that a sign-in at the identity provider can take. */
export const SIGN_IN_MINUTES = 10;

/**
 * The sign-ins that callers began and did not complete yet: those of a network (an IPv4 address or
 * an IPv6 /64), and all. Anybody can begin one, and each is stored.
 */
export interface UnfinishedSignIns {
  readonly ofNetwork: number;
  readonly total: number;
}

const MAX_UNFINISHED: UnfinishedSignIns = { ofNetwork: 100, total: 10_000 };

/** @throws 429 if no further sign-in can begin */
export function refuseTooManyUnfinished({ ofNetwork, total }: UnfinishedSignIns): void {
  const bound =
    ofNetwork >= MAX_UNFINISHED.ofNetwork
      ? `${MAX_UNFINISHED.ofNetwork} of one address`
      : total >= MAX_UNFINISHED.total
        ? `${MAX_UNFINISHED.total} in total`
        : undefined;
  if (bound === undefined) return;
  const detail = `Too many sign-ins are not completed: at most ${bound} within ${SIGN_IN_MINUTES} minutes. Complete one of them, or try again in a minute.`;
  throw new Problem('rate_limited', detail, { headers: { 'Retry-After': '60' } });
}

/**
 * The cookie that binds a sign-in to the browser. Each sign-in has its own cookie, so that tabs do
 * not conflict. With https, its prefix keeps other hosts, such as subdomains, from setting it.
 */
export interface SignInCookie {
  /** The name for a sign-in, which the hash of its state identifies. */
  nameOf(stateHash: string, callbackUrl: URL): string;
  /** The value of `Set-Cookie`. Without https, browsers send the cookie only to `callbackUrl`. */
  set(name: string, value: string, callbackUrl: URL): string;
  /** The value of `Set-Cookie` that deletes the cookie of a completed sign-in. */
  clear(name: string, callbackUrl: URL): string;
}

export function createSignInCookie(service: string): SignInCookie {
  const isSecure = ({ protocol }: URL) => protocol === 'https:';
  const cookie = (name: string, value: string, callbackUrl: URL, maxAge: number) =>
    serialize(name, value, {
      path: isSecure(callbackUrl) ? '/' : callbackUrl.pathname, // the prefix requires this path
      maxAge,
      httpOnly: true,
      sameSite: 'lax', // the redirect of the provider is a navigation from another site
      secure: isSecure(callbackUrl),
    });
  return {
    nameOf: (stateHash, callbackUrl) =>
      `${isSecure(callbackUrl) ? '__Host-' : ''}${service}-sign-in-${stateHash.slice(0, 12)}`,
    set: (name, value, callbackUrl) => cookie(name, value, callbackUrl, SIGN_IN_MINUTES * 60),
    clear: (name, callbackUrl) => cookie(name, '', callbackUrl, 0),
  };
}

/**
 * The parameter with the code of a completed sign-in of the console, in the fragment of the address
 * of its page, which browsers do not send.
 */
export const SIGN_IN_CODE = 'sign_in_code';

/**
 * What a page sends of its verifier when it begins a sign-in (RFC 7636, S256). The page keeps the
 * verifier in the storage of its origin, which pages on other ports and hosts cannot change.
 */
export const challengeOf = (verifier: string): string => hash('sha256', verifier, 'base64url');

/** @throws 400 if a sign-in of the console has no challenge: a link of another site began it */
export function requireChallenge(challenge: string | undefined): string {
  if (challenge !== undefined) return challenge;
  throw invalid([{ path: 'challenge', message: 'is required for a sign-in of the console' }]);
}

/** 401: the code and the verifier do not belong to the same sign-in, or the code has expired. */
export class SignInNotBegunHere extends Problem {
  constructor() {
    super('invalid_grant', 'The sign-in has expired, or was not begun by this page in this browser. Begin it again.');
  }
}

/**
 * Accepts only a path on this origin. Browsers interpret two leading slashes or a backslash as
 * another host.
 * @throws 400
 */
export function refuseForeignPath(returnTo: string): void {
  const base = 'https://service.invalid';
  const isOwn =
    /^\/(?![/\\])[^\\]*$/.test(returnTo) && URL.canParse(returnTo, base) && new URL(returnTo, base).origin === base;
  if (!isOwn) throw invalid([{ path: 'return_to', message: 'must be a path of this origin, such as /' }]);
}

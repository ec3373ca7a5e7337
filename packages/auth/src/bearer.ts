import { type Problem, readQuery } from '@svc/http';
import type { Request } from 'express';
import passport from 'passport';
import { Strategy, type VerifyFunctionWithRequest } from 'passport-http-bearer';
import { type Challenges, TokenRefused } from './challenges.ts';

const AUTHORIZATION = 'authorization';
const MAX_TOKEN_LENGTH = 8192;

/**
 * Scheme in any case, one or more spaces (RFC 9110, section 11.4), and the token alphabet of RFC
 * 6750, section 2.1.
 */
const CREDENTIALS = /^Bearer +([A-Za-z0-9\-._~+/]+=*)$/i;

/**
 * Other URLs have no parameter `access_token`, also not with percent-encoding, so that their query
 * need not be parsed.
 */
const MAY_CONTAIN_TOKEN = /access_token|%/;

/** The bearer credential of a request. Nothing else in a service reads the Authorization header. */
export interface BearerCredential {
  /** Undefined if the request has no credential, or a malformed one. */
  readonly token: string | undefined;
  /** 400 if a credential is sent twice, in the query, or in another form than RFC 6750 states. */
  readonly problem: Problem | undefined;
  /** The token of each Authorization header that has one, also of a malformed credential. */
  readonly candidates: readonly string[];
}

/** Reads the bearer credential of a request. A malformed credential never counts as none. */
export function readBearer(req: Request, challenges: Challenges): BearerCredential {
  const headers = authorizationHeaders(req.rawHeaders);
  const matches = headers.map((header) => CREDENTIALS.exec(header));
  const candidates = matches.flatMap((match) => match?.[1] ?? []);
  const malformed = (detail: string) => ({ token: undefined, problem: challenges.malformed(detail), candidates });
  if (headers.length > 1) return malformed('The request must not have more than one Authorization header.');
  if (MAY_CONTAIN_TOKEN.test(req.url) && Object.hasOwn(readQuery(req.url), 'access_token')) {
    return malformed('Tokens in the query are not accepted. Send the header Authorization: Bearer <token>.');
  }
  if (headers.length === 0) return { token: undefined, problem: undefined, candidates };
  const [, token] = matches[0] ?? [];
  if (token === undefined || token.length > MAX_TOKEN_LENGTH) {
    return malformed(
      `The Authorization header must be "Bearer <token>", with at most ${MAX_TOKEN_LENGTH} characters in the token.`,
    );
  }
  return { token, problem: undefined, candidates };
}

/**
 * Node keeps the first of two Authorization headers and drops the second silently. The raw headers,
 * names and values in turn, have both.
 */
function authorizationHeaders(rawHeaders: readonly string[]): string[] {
  const found: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === AUTHORIZATION.length && name.toLowerCase() === AUTHORIZATION)
      found.push(rawHeaders[at + 1] ?? '');
  }
  return found;
}

/**
 * The request for passport-http-bearer. It contains only the credential, so that no token in a body
 * or query is used.
 */
interface StrategyRequest<R> {
  readonly headers: { readonly authorization: string };
  readonly request: R;
}

/** Resolves to the principal of a credential, or undefined if there is none. @throws 400, 401 */
export type Authenticate<P, R> = (credential: BearerCredential, request: R) => Promise<P | undefined>;

/**
 * Authentication by bearer token. `verify` resolves to undefined for a token that is not valid, or
 * rejects with `TokenRefused`; `request` is passed on to it.
 */
export function createAuthenticator<P extends object, R = undefined>(
  verify: (token: string, request: R) => Promise<P | undefined>,
  challenges: Challenges,
): Authenticate<P, R> {
  const strategies = new passport.Passport();
  const verifyRequest: VerifyFunctionWithRequest = (req, token, done) => {
    // Passport passes on the argument of authenticate() below.
    const { request } = req as unknown as StrategyRequest<R>;
    verify(token, request).then((principal) => done(null, principal ?? false), done);
  };
  strategies.use(new Strategy({ passReqToCallback: true }, verifyRequest));
  return async ({ token, problem }, request) => {
    if (problem) throw problem;
    if (token === undefined) return undefined;
    const strategyRequest: StrategyRequest<R> = { headers: { authorization: `Bearer ${token}` }, request };
    return new Promise((resolve, reject) => {
      const finish = (error: unknown, principal: P | false | undefined) => {
        if (error) reject(error instanceof TokenRefused ? challenges.invalidToken(error.message) : error);
        else if (principal) resolve(principal);
        else reject(challenges.invalidToken());
      };
      strategies.authenticate('bearer', { session: false }, finish)(strategyRequest, undefined, reject);
    });
  };
}

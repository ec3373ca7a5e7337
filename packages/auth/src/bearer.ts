import { readQuery } from '@svc/http';
import type { Request } from 'express';
import passport from 'passport';
import { Strategy, type VerifyFunctionWithRequest } from 'passport-http-bearer';
import type { Challenges } from './challenges.ts';

const MAX_TOKEN_LENGTH = 8192;

/** Scheme in any case, one space, the token alphabet of RFC 6750, section 2.1. */
const CREDENTIALS = /^Bearer ([A-Za-z0-9\-._~+/]+=*)$/i;

/**
 * The bearer token of a request, or undefined when none is sent.
 * @throws 400 when it is sent twice, in the query, or not as RFC 6750 says: never taken for "none".
 */
export function readBearer(req: Request, challenges: Challenges): string | undefined {
  // Node keeps the first of two Authorization headers silently, so the raw list is what counts.
  const sent = req.rawHeaders
    .filter((_, index) => index % 2 === 0)
    .filter((name) => name.toLowerCase() === 'authorization');
  if (sent.length > 1) throw challenges.malformed('There are two Authorization headers: send one.');
  if (Object.hasOwn(readQuery(req.url), 'access_token')) {
    throw challenges.malformed('A token in the query is not taken: send Authorization: Bearer <token>.');
  }
  const header = req.headers.authorization;
  if (header === undefined) return undefined;
  const token = CREDENTIALS.exec(header)?.[1];
  if (token === undefined || token.length > MAX_TOKEN_LENGTH) {
    throw challenges.malformed(
      `The Authorization header must be "Bearer <token>", with at most ${MAX_TOKEN_LENGTH} characters.`,
    );
  }
  return token;
}

/** passport-http-bearer also takes a token from the body and the query: it is shown the header and nothing else. */
class HeaderStrategy extends Strategy<VerifyFunctionWithRequest> {
  override authenticate(req: Request): void {
    const shown: Shown = { headers: { authorization: req.headers.authorization }, whole: req };
    super.authenticate(shown as unknown as Request); // the strategy reads headers, body and query, and hands it on
  }
}

interface Shown {
  readonly headers: { readonly authorization: string | undefined };
  readonly whole: Request;
}

/** Finds out whose token a request bears; undefined when it bears none. A token that `verify` knows nothing of is a 401. */
export type Authenticate<P> = (req: Request) => Promise<P | undefined>;

/** Authentication by bearer token. `verify` resolves to undefined for a token that is good for nothing. */
export function createAuthenticator<P extends object>(
  verify: (token: string, req: Request) => Promise<P | undefined>,
  challenges: Challenges,
): Authenticate<P> {
  const strategies = new passport.Passport();
  strategies.use(
    new HeaderStrategy({ passReqToCallback: true }, (shown: unknown, token, done) => {
      verify(token, (shown as Shown).whole).then((principal) => done(null, principal ?? false), done);
    }),
  );
  return async (req) => {
    if (readBearer(req, challenges) === undefined) return undefined;
    return new Promise((resolve, reject) => {
      const finish = (error: unknown, principal: P | false | undefined) => {
        if (error) reject(error);
        else if (principal) resolve(principal);
        else reject(challenges.invalidToken());
      };
      strategies.authenticate('bearer', { session: false }, finish)(req, req.res, reject);
    });
  };
}

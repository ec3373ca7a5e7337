import { admit, challengesOf, createAuthenticator, createKnownSessions, readBearer } from '@svc/auth';
import type { Endpoint } from '@svc/contract';
import type { HubAccess } from '@svc/contract/hub';
import { type Enter, hasEtagOf, matchesOf, pathOf, requestIdOf } from '@svc/http';
import { parse as parseCookies } from 'cookie';
import type { Request, Response } from 'express';
import { type CredentialRequest, createVerifier, type KnownKeys } from '../../identity/authenticate.ts';
import { isPublishing, policy } from '../../identity/policy.ts';
import { anonymous, nameOf, type Principal, viewerOf } from '../../identity/principal.ts';
import { verifyReference } from '../../identity/sessions.ts';
import type { Revision, RevisionCheck } from '../../revision/revision.ts';
import type { CallerContext, RequestContext, Services } from './context.ts';

/** The number of characters of a `User-Agent` that are stored. */
const MAX_USER_AGENT = 300;

const challenges = challengesOf('hub');

export interface Entrance {
  /** Authenticates and authorizes a request to an endpoint of the contract. */
  readonly enter: Enter<RequestContext>;
  /** Authenticates a request whose operations are authorized one by one. @throws 400, 401 */
  readonly authenticate: (req: Request, res: Response) => Promise<CallerContext>;
  /**
   * The known session of a request that is not authenticated yet: a session of the console, or an
   * API key that was verified before.
   */
  readonly sessionOf: (req: Request) => string | undefined;
  readonly knownKeys: KnownKeys;
}

/** Creates the functions that authenticate and authorize requests, and create their contexts. */
export function createEntrance(services: Services, revisions: RevisionCheck): Entrance {
  const credentials = createCredentials(services);
  const authenticate = async (req: Request, res: Response, access?: HubAccess): Promise<CallerContext> => {
    const read: Revision | undefined = res.locals.revision; // the request waited for it already
    const revision = once(() => (read ? Promise.resolve(read) : revisions.latest()));
    const principal = await credentials.resolve(req, {
      revision,
      isPublishing: access !== undefined && isPublishing(access),
    });
    res.locals.caller = nameOf(principal);
    return {
      ...services,
      revision,
      principal,
      viewer: viewerOf(principal),
      address: req.ip ?? '',
      cookie: (name) => parseCookies(req.headers.cookie ?? '')[name],
      userAgent: req.headers['user-agent']?.slice(0, MAX_USER_AGENT) ?? null,
    };
  };
  const enter: Enter<RequestContext> = async (req, res, endpoint) => {
    const caller = await authenticate(req, res, declaredAccess(endpoint));
    admitTo(endpoint, caller.principal);
    return {
      ...caller,
      request: { id: requestIdOf(res), method: req.method, path: pathOf(req.originalUrl) },
      requireConsole: () => services.browserSessions.requireConsole(req),
      keyHash: services.browserSessions.keyHashOf(req),
      headOnly: req.method === 'HEAD',
      hasEtag: hasEtagOf(req),
      ifMatch: () => matchesOf(req),
    };
  };
  return { enter, authenticate, sessionOf: credentials.sessionOf, knownKeys: credentials.knownKeys };
}

/** @throws 401, 403 unless the policy admits the principal to the endpoint */
export const admitTo = (endpoint: Endpoint, principal: Principal): void =>
  admit({ policy, challenges }, { access: declaredAccess(endpoint), principal });

// Every endpoint of the hub declares one.
const declaredAccess = ({ access }: Endpoint) => access as HubAccess;

/** Resolves the credentials of requests: a bearer token, or the cookie of a browser. */
function createCredentials({ database, provider, usage, browserSessions }: Services) {
  const { verify, knownKeys } = createVerifier({ database, provider, usage });
  const authenticateBearer = createAuthenticator(verify, challenges);
  const knownSessions = createKnownSessions();
  const inBrowser = async (req: Request) => {
    const reference = browserSessions.read(req);
    return reference === undefined
      ? undefined
      : verifyReference(database, provider, { reference, keyHash: browserSessions.keyHashOf(req) });
  };
  return {
    resolve: async (req: Request, request: CredentialRequest): Promise<Principal> => {
      const credential = readBearer(req, challenges);
      // A request with a bearer credential never uses the cookie.
      const principal: Principal =
        (await authenticateBearer(credential, request)) ?? (await inBrowser(req)) ?? anonymous;
      if (principal.kind === 'user' && principal.sessionId !== undefined) {
        const reference = browserSessions.find(req);
        if (reference !== undefined) knownSessions.remember(reference, principal.sessionId);
      }
      return principal;
    },
    sessionOf: (req: Request) => {
      const { authorization } = req.headers;
      if (authorization !== undefined) return knownKeys.find(authorization)?.session;
      return knownSessions.of(browserSessions.find(req));
    },
    knownKeys,
  };
}

/** Reads a value when it is first needed. */
function once(read: () => Promise<Revision>): () => Promise<Revision> {
  let value: Promise<Revision> | undefined;
  return () => {
    value ??= read();
    return value;
  };
}

import {
  admit,
  type BearerCredential,
  challengesOf,
  createAuthenticator,
  createBrowserSessions,
  createKnownSessions,
  readBearer,
} from '@svc/auth';
import type { Endpoint } from '@svc/contract';
import type { FleetAccess } from '@svc/contract/fleet';
import {
  closeConnectionOf,
  createTurnQueue,
  type Enter,
  type Log,
  matchesOf,
  pathOf,
  type Route,
  requestIdOf,
} from '@svc/http';
import type { McpOptions } from '@svc/mcp';
import { parse as parseCookies } from 'cookie';
import type { Request, Response } from 'express';
import type { RequestContext, Services } from './api/context.ts';
import { actorOf } from './audit/recording.ts';
import { createCandidates } from './deployments/candidates.ts';
import { createVerifier } from './identity/authenticate.ts';
import { policy } from './identity/policy.ts';
import { callerKey, type Principal } from './identity/principal.ts';
import { createStreamCredentials } from './identity/sessions/stream-credentials.ts';
import { createCaller } from './mcp/caller.ts';

/** The limits of changes that acquire the placement lock. One makes progress at a time, while another one prepares. */
const PLACEMENTS = { what: 'requests that change deployments', running: 2, waitingPerCaller: 256, waitMs: 10_000 };

/** The limits of plans, which need CPU time for each candidate. */
const PLANS = { what: 'plans', running: 2, waitingPerCaller: 8, waitMs: 10_000 };

/** The number of characters of a `User-Agent` that are stored. */
const MAX_USER_AGENT = 300;

const challenges = challengesOf('fleet');

export const readCredential = (req: Request): BearerCredential => readBearer(req, challenges);

interface EntranceOptions {
  readonly services: Services;
  readonly routes: readonly Route<RequestContext>[];
  readonly log: Log;
}

/**
 * Authenticates and authorizes requests, to endpoints of the contract (`enter`) and to the MCP endpoint (`enterMcp`). `sessionOf` is
 * the known session of a request that is not authenticated yet.
 */
export function createEntrances({ services, routes, log }: EntranceOptions) {
  const streamCredentials = createStreamCredentials(services, log);
  const authenticate = createAuthenticator(createVerifier(services), challenges);
  const browserSessions = createBrowserSessions('fleet', services.publicUrl);
  const knownSessions = createKnownSessions();
  const shared = {
    ...services,
    browserSessions,
    placementQueue: createTurnQueue(PLACEMENTS),
    planQueue: createTurnQueue(PLANS),
    candidates: createCandidates(),
  };

  /** The credential of a session, if the request has one. */
  const sessionCredential = (req: Request, { credential }: Response['locals']) =>
    credential.token ?? (credential.problem ? undefined : browserSessions.find(req));
  /** Only requests to the API can have a cookie; for others, such as those to the MCP endpoint, it is ignored. */
  const inBrowser = async (req: Request) => {
    const reference = browserSessions.read(req);
    return reference === undefined ? undefined : services.sessions.verifyReference(reference);
  };

  const authenticateRequest = async (req: Request, res: Response): Promise<Principal> => {
    const { credential, recording } = res.locals;
    // A request with a bearer credential never uses the cookie.
    const principal: Principal = (await authenticate(credential, recording)) ??
      (await inBrowser(req)) ?? { kind: 'anonymous' };
    const session = 'sessionId' in principal ? principal.sessionId : undefined;
    if (session !== undefined) knownSessions.remember(sessionCredential(req, res.locals) ?? '', session);
    const actor = actorOf(principal);
    if (actor) recording.setActor(actor);
    res.locals.caller = callerKey(principal);
    if (principal.kind === 'temporary-admin')
      log.warn({ path: pathOf(req.originalUrl) }, 'the temporary admin is in use');
    return principal;
  };

  /** Ends the response soon after the caller loses the access to an endpoint; with `endsWithRole`, after any change of its role. */
  const endWithCredentialOf =
    (res: Response, access: FleetAccess, principal: Principal) =>
    (endsWithRole: boolean): void => {
      if (principal.kind === 'anonymous') return;
      const end = () => void res.destroy();
      const stream = { credential: res.locals.credential.token ?? '', principal, access, endsWithRole, end };
      res.once('close', streamCredentials.add(stream).remove);
    };

  const contextOf = (req: Request, res: Response, principal: Principal) => ({
    ...shared,
    principal,
    requestId: requestIdOf(res),
    address: req.ip ?? '',
    requireConsole: () => browserSessions.requireConsole(req),
    userAgent: req.get('User-Agent')?.slice(0, MAX_USER_AGENT) ?? null,
  });

  const enter: Enter<RequestContext> = async (req, res, endpoint) => {
    const principal = await authenticateRequest(req, res);
    const access = accessTo(endpoint);
    admit({ policy, challenges }, { access, principal });
    const endWithCredential = endWithCredentialOf(res, access, principal);
    if (endpoint.stream !== undefined) endWithCredential(endpoint.stream === 'text/event-stream');
    return {
      ...contextOf(req, res, principal),
      recording: res.locals.recording,
      ifMatch: () => matchesOf(req),
      idempotencyKey: req.get('Idempotency-Key'),
      lastEventId: req.get('Last-Event-ID'),
      connection: {
        endWithCredential: () => endWithCredential(true),
        onClose: (listener) => void (res.destroyed ? listener() : res.once('close', listener)),
        closeAsTooSlow: () => closeConnectionOf(res, 'too_slow'),
      },
      cookie: (name) => parseCookies(req.headers.cookie ?? '')[name],
    };
  };

  const enterMcp: McpOptions['enter'] = async (req, res, signal) => {
    const principal = await authenticateRequest(req, res);
    const { recording, writeParts } = res.locals;
    recording.isRequired = true;
    admit({ policy, challenges }, { access: 'signed-in', principal });
    return createCaller({
      routes,
      key: callerKey(principal),
      requestId: requestIdOf(res),
      signal,
      recording,
      writeRecords: writeParts,
      admit: (endpoint) => admit({ policy, challenges }, { access: accessTo(endpoint), principal }),
      contextFor: (endpoint, { version, idempotencyKey, onState }, part) => {
        const endWithCredential = endWithCredentialOf(res, accessTo(endpoint), principal);
        if (endpoint.stream !== undefined) endWithCredential(false);
        return {
          ...contextOf(req, res, principal),
          recording: part,
          ifMatch: () => (current) => version === undefined || current === version,
          idempotencyKey,
          lastEventId: undefined,
          connection: {
            endWithCredential: () => endWithCredential(true),
            onClose: (listener) => void (signal.aborted ? listener() : signal.addEventListener('abort', listener)),
            closeAsTooSlow: () => closeConnectionOf(res, 'too_slow'),
          },
          onState,
          cookie: () => undefined,
        };
      },
    });
  };
  const sessionOf = (req: Request, res: Response) => knownSessions.of(sessionCredential(req, res.locals));
  return { enter, enterMcp, sessionOf };
}

/** All endpoints in the contract of the fleet declare an access of this type. */
const accessTo = ({ access }: Endpoint) => access as FleetAccess;

import type { Endpoint } from '@svc/contract';
import type { FleetAccess } from '@svc/contract/fleet';
import { closeConnectionOf, createTurnQueue, type Enter, LARGE_PAGES, matchesOf, requestIdOf } from '@svc/http';
import { parse as parseCookies } from 'cookie';
import type { Request, Response } from 'express';
import { createCandidates } from '../../deployments/candidates.ts';
import { refuseUnapproved } from '../../identity/approvals.ts';
import type { Authentication } from '../../identity/authentication.ts';
import type { Principal } from '../../identity/principal.ts';
import type { RequestContext, Services } from './context.ts';

/**
 * The limits of changes that acquire the placement lock. One makes progress at a time, while
 * another one prepares. `aloneInPlacementQueue` takes both turns.
 */
const PLACEMENTS = { what: 'requests that change deployments', running: 2, waitingPerCaller: 256, waitMs: 10_000 };

/** The limits of applications of plans. One takes the turns of all other changes. */
const APPLICATIONS = { what: 'applications of plans', running: 1, waitingPerCaller: 8, waitMs: 10_000 };

/** The limits of plans, which need CPU time for each candidate. */
const PLANS = { what: 'plans', running: 2, waitingPerCaller: 8, waitMs: 10_000 };

/** The limits of readings of usage, which open connections to engines. */
const USAGE = { what: 'readings of usage', running: 8, waitingPerCaller: 8, waitMs: 10_000 };

/** The number of characters of a `User-Agent` that are stored. */
const MAX_USER_AGENT = 300;

/** The queues of a process, and what its requests share in memory. */
export type Turns = ReturnType<typeof createTurns>;

export const createTurns = ({ networkPool }: Pick<Services, 'networkPool'>, placementWaitMs = PLACEMENTS.waitMs) => ({
  placementQueue: createTurnQueue({ ...PLACEMENTS, waitMs: placementWaitMs }),
  applicationQueue: createTurnQueue({ ...APPLICATIONS, waitMs: placementWaitMs }),
  planQueue: createTurnQueue(PLANS),
  pageQueue: createTurnQueue(LARGE_PAGES),
  usageQueue: createTurnQueue(USAGE),
  usageReadings: new Map(),
  candidates: createCandidates(networkPool),
});

type SharedContext = ReturnType<ReturnType<typeof createSharedContexts>>;

/**
 * Creates the part of a context that requests to the API and to the MCP endpoint have in common.
 */
export type SharedContextOf = (req: Request, res: Response, principal: Principal) => SharedContext;

export function createSharedContexts(
  services: Services,
  turns: Turns,
  { browserSessions, admitTo }: Pick<Authentication, 'browserSessions' | 'admitTo'>,
) {
  const shared = { ...services, ...turns, browserSessions, admitTo };
  return (req: Request, res: Response, principal: Principal) => ({
    ...shared,
    principal,
    requestId: requestIdOf(res),
    address: req.ip ?? '',
    requireConsole: () => browserSessions.requireConsole(req),
    keyHash: browserSessions.keyHashOf(req),
    userAgent: req.get('User-Agent')?.slice(0, MAX_USER_AGENT) ?? null,
  });
}

/**
 * Authenticates and authorizes requests to endpoints of the contract, and creates their contexts.
 */
export const createEnter =
  (authentication: Authentication, sharedContextOf: SharedContextOf): Enter<RequestContext> =>
  async (req, res, endpoint) => {
    const principal = await authentication.authenticate(req, res);
    const access = accessTo(endpoint);
    authentication.admitTo(access, principal);
    refuseUnapproved(endpoint, principal);
    const endWithCredential = authentication.endingWithCredential(res, { access, principal });
    if (endpoint.stream !== undefined) endWithCredential(endpoint.stream === 'text/event-stream');
    return {
      ...sharedContextOf(req, res, principal),
      recording: res.locals.recording,
      ifMatch: () => matchesOf(req),
      idempotencyKey: req.get('Idempotency-Key'),
      lastEventId: req.get('Last-Event-ID'),
      hookProof: { signature: req.get('X-Hub-Signature-256'), token: req.get('X-Gitlab-Token') },
      connection: {
        endWithCredential: () => endWithCredential(true),
        onClose: (listener) => void (res.destroyed ? listener() : res.once('close', listener)),
        closeAsTooSlow: () => closeConnectionOf(res, 'too_slow'),
      },
      cookie: (name) => parseCookies(req.headers.cookie ?? '')[name],
    };
  };

/** All endpoints in the contract of the fleet declare an access of this type. */
export const accessTo = ({ access }: Endpoint) => access as FleetAccess;

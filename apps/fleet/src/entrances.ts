import { admit, type BearerCredential, challengesOf, createAuthenticator, readBearer } from '@svc/auth';
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
import { createVerifier } from './api/authenticate.ts';
import type { RequestContext, Services } from './api/context.ts';
import { policy } from './api/policy.ts';
import { createStreamCredentials } from './api/stream-credentials.ts';
import { actorOf } from './audit/recording.ts';
import { createCandidates } from './deployments/candidates.ts';
import { createCaller } from './mcp/caller.ts';
import { callerKey, type Principal } from './principal.ts';

/** The limits of changes that acquire the placement lock. One makes progress at a time, while another one prepares. */
const PLACEMENTS = { what: 'requests that change deployments', running: 2, waitingPerCaller: 256, waitMs: 10_000 };

const challenges = challengesOf('fleet');

export const readCredential = (req: Request): BearerCredential => readBearer(req, challenges);

interface EntranceOptions {
  readonly services: Services;
  readonly routes: readonly Route<RequestContext>[];
  readonly log: Log;
}

/** Authenticates and authorizes requests, to endpoints of the contract (`enter`) and to the MCP endpoint (`enterMcp`). */
export function createEntrances({ services, routes, log }: EntranceOptions) {
  const streamCredentials = createStreamCredentials(services, log);
  const authenticate = createAuthenticator(createVerifier(services), challenges);
  const shared = { ...services, placementQueue: createTurnQueue(PLACEMENTS), candidates: createCandidates() };

  const authenticateRequest = async (req: Request, res: Response): Promise<Principal> => {
    const { credential, recording } = res.locals;
    const principal: Principal = (await authenticate(credential, recording)) ?? { kind: 'anonymous' };
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

  const enter: Enter<RequestContext> = async (req, res, endpoint) => {
    const principal = await authenticateRequest(req, res);
    const access = accessTo(endpoint);
    admit({ policy, challenges }, { access, principal });
    const endWithCredential = endWithCredentialOf(res, access, principal);
    if (endpoint.stream !== undefined) endWithCredential(endpoint.stream === 'text/event-stream');
    return {
      ...shared,
      principal,
      requestId: requestIdOf(res),
      recording: res.locals.recording,
      address: req.ip ?? '',
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
          ...shared,
          principal,
          requestId: requestIdOf(res),
          recording: part,
          address: req.ip ?? '',
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
  return { enter, enterMcp };
}

/** All endpoints in the contract of the fleet declare an access of this type. */
const accessTo = ({ access }: Endpoint) => access as FleetAccess;

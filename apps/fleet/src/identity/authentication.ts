import {
  admit,
  type BearerCredential,
  type BrowserSessions,
  challengesOf,
  createAuthenticator,
  createBrowserSessions,
  createKnownSessions,
  readBearer,
} from '@svc/auth';
import type { FleetAccess } from '@svc/contract/fleet';
import { type Log, pathOf } from '@svc/http';
import type { Request, Response } from 'express';
import { actorOf } from './actor.ts';
import { createVerifier } from './authenticate.ts';
import { callerKey, type Principal } from './principal.ts';
import type { IdentityServices } from './services.ts';
import { createStreamCredentials } from './sessions/stream-credentials.ts';

const challenges = challengesOf('fleet');

export const readCredential = (req: Request): BearerCredential => readBearer(req, challenges);

/** Authenticates requests, to endpoints of the contract and to the MCP endpoint. */
export interface Authentication {
  readonly browserSessions: BrowserSessions;
  /** @throws 401, 403 unless the policy admits the principal */
  admitTo(access: FleetAccess, principal: Principal): void;
  /**
   * The principal of a request to the API or to the MCP endpoint, which becomes the actor of its
   * audit entry. @throws 400, 401, 503
   */
  authenticate(req: Request, res: Response, where?: 'api' | 'mcp'): Promise<Principal>;
  /** The known session of a request that is not authenticated yet. */
  sessionOf(req: Request, res: Response): string | undefined;
  /**
   * Creates the function that ends the response soon after the caller loses the access; with
   * `endsWithRole`, after any change of its role.
   */
  endingWithCredential(
    res: Response,
    caller: { readonly access: FleetAccess; readonly principal: Principal },
  ): (endsWithRole: boolean) => void;
}

interface AuthenticationOptions {
  readonly services: IdentityServices;
  /** The URL at which browsers reach the fleet. */
  readonly publicUrl: string | undefined;
  readonly log: Log;
  /** The limit of production applies unless given. */
  readonly streamCheckMs?: number | undefined;
}

export function createAuthentication({
  services,
  publicUrl,
  log,
  streamCheckMs,
}: AuthenticationOptions): Authentication {
  const streamCredentials = createStreamCredentials(services, log, streamCheckMs);
  const authenticateBearer = createAuthenticator(createVerifier(services), challenges);
  const browserSessions = createBrowserSessions('fleet', publicUrl);
  const knownSessions = createKnownSessions();

  /** The credential of a session, if the request has one. */
  const sessionCredential = (req: Request, { credential }: Response['locals']) =>
    credential.token ?? (credential.problem ? undefined : browserSessions.find(req));
  /**
   * Only requests to the API can have a cookie; for others, such as those to the MCP endpoint, it
   * is ignored.
   */
  const inBrowser = async (req: Request) => {
    const reference = browserSessions.read(req);
    return reference === undefined
      ? undefined
      : services.sessions.verifyReference({ reference, keyHash: browserSessions.keyHashOf(req) });
  };

  return {
    browserSessions,
    admitTo: (access, principal) => admit({ policy: services.policy, challenges }, { access, principal }),
    authenticate: async (req, res, where = 'api') => {
      const { credential, recording } = res.locals;
      // A request with a bearer credential never uses the cookie.
      const principal: Principal = (await authenticateBearer(credential, {
        stored: recording.token,
        isAtMcp: where === 'mcp',
      })) ??
        (await inBrowser(req)) ?? { kind: 'anonymous' };
      const session = 'sessionId' in principal ? principal.sessionId : undefined;
      if (session !== undefined) knownSessions.remember(sessionCredential(req, res.locals) ?? '', session);
      const actor = actorOf(principal);
      if (actor) recording.setActor(actor);
      res.locals.caller = callerKey(principal);
      if (principal.kind === 'temporary-admin')
        log.warn({ path: pathOf(req.originalUrl) }, 'the temporary admin is in use');
      return principal;
    },
    sessionOf: (req, res) => knownSessions.of(sessionCredential(req, res.locals)),
    endingWithCredential:
      (res, { access, principal }) =>
      (endsWithRole) => {
        if (principal.kind === 'anonymous') return;
        const end = () => void res.destroy();
        const stream = { credential: res.locals.credential.token ?? '', principal, access, endsWithRole, end };
        res.once('close', streamCredentials.add(stream).remove);
      },
  };
}

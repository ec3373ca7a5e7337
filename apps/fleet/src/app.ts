import { admit, challengesOf, createAuthenticator, readBearer } from '@svc/auth';
import { type Endpoint, fleetService, openApiDocument } from '@svc/contract';
import { type FleetAccess, fleetEndpoints } from '@svc/contract/fleet';
import {
  closeConnectionOf,
  createService,
  createTurnQueue,
  type Enter,
  matchesOf,
  observePools,
  pathOf,
  requestIdOf,
  type ServiceOptions,
} from '@svc/http';
import { type CallLimits, createServerFactory, type McpOptions, mountMcp } from '@svc/mcp';
import { parse as parseCookies } from 'cookie';
import type { Express, Request, Response } from 'express';
import * as audit from './api/audit.ts';
import { login } from './api/auth/login.ts';
import * as oidc from './api/auth/oidc.ts';
import { changeOwnPassword } from './api/auth/password.ts';
import * as auth from './api/auth.ts';
import { createVerifier } from './api/authenticate.ts';
import * as catalog from './api/catalog.ts';
import { watchChanges } from './api/changes.ts';
import * as clusterEvents from './api/clusters/events.ts';
import * as clusterOrphans from './api/clusters/orphans.ts';
import * as clusters from './api/clusters.ts';
import { implement, type RequestContext, type Services } from './api/context.ts';
import { readDeploymentLogs } from './api/deployments/logs.ts';
import { planDeployment } from './api/deployments/plan.ts';
import * as deployments from './api/deployments.ts';
import { listEvents } from './api/events.ts';
import * as hostEvents from './api/hosts/events.ts';
import * as hostOrphans from './api/hosts/orphans.ts';
import * as hosts from './api/hosts.ts';
import { policy } from './api/policy.ts';
import * as secrets from './api/secrets.ts';
import * as settings from './api/settings.ts';
import * as storage from './api/storage.ts';
import { createStreamCredentials } from './api/stream-credentials.ts';
import * as tokens from './api/tokens.ts';
import * as users from './api/users.ts';
import * as workloads from './api/workloads.ts';
import { createAuditGate } from './audit/gate.ts';
import { actorOf } from './audit/recording.ts';
import type { RejectionLimits } from './audit/rejections.ts';
import { observeSync } from './catalog/sync-state.ts';
import { createCandidates } from './deployments/candidates.ts';
import { createCaller } from './mcp/caller.ts';
import { fleetMcp } from './mcp/service.ts';
import { callerKey, type Principal } from './principal.ts';
import { observeFleet } from './reconciler/fleet-figures.ts';
import { version } from './version.ts';

const routes = implement(fleetEndpoints, {
  ...auth,
  login,
  changeOwnPassword,
  ...oidc,
  ...catalog,
  ...users,
  ...tokens,
  ...settings,
  ...audit,
  ...hosts,
  ...clusters,
  ...hostOrphans,
  ...clusterOrphans,
  ...workloads,
  ...deployments,
  planDeployment,
  readDeploymentLogs,
  ...storage,
  ...secrets,
  listEvents,
  ...hostEvents,
  ...clusterEvents,
  watchChanges,
});

type OwnOptions =
  | 'version'
  | 'routes'
  | 'enter'
  | 'openapi'
  | 'gate'
  | 'mountOthers'
  | 'observe'
  | 'publicUrl'
  | 'corsOrigins';
export interface FleetOptions extends Omit<ServiceOptions<RequestContext>, OwnOptions> {
  readonly services: Services;
  /** Aborts when the process is told to stop. Calls of tools that wait then end. */
  readonly stopping?: AbortSignal | undefined;
  /** The limits of production apply unless given. */
  readonly callLimits?: CallLimits | undefined;
  /** The limits of production apply unless given. */
  readonly rejectionLimits?: RejectionLimits | undefined;
}

/** The limits of changes that acquire the placement lock. One makes progress at a time, while another one prepares. */
const PLACEMENTS = { what: 'requests that change deployments', running: 2, waitingPerCaller: 256, waitMs: 10_000 };

/** Creates the fleet as an Express application. It does not read the environment or listen on a port. */
export function createFleet({
  services,
  rejectionLimits,
  stopping = new AbortController().signal,
  callLimits,
  ...options
}: FleetOptions): Express {
  const challenges = challengesOf('fleet');
  const streamCredentials = createStreamCredentials(services, options.log);
  const authenticate = createAuthenticator(createVerifier(services), challenges);
  const placementQueue = createTurnQueue(PLACEMENTS);
  const candidates = createCandidates();
  const authenticateRequest = async (req: Request, res: Response): Promise<Principal> => {
    const { credential, recording } = res.locals;
    const principal: Principal = (await authenticate(credential, recording)) ?? { kind: 'anonymous' };
    const actor = actorOf(principal);
    if (actor) recording.setActor(actor);
    res.locals.caller = callerKey(principal);
    if (principal.kind === 'temporary-admin')
      options.log.warn({ path: pathOf(req.originalUrl) }, 'the temporary admin is in use');
    return principal;
  };
  // All endpoints in the contract of the fleet declare an access of this type.
  const admitTo = (endpoint: Endpoint, principal: Principal) =>
    admit({ policy, challenges }, { access: endpoint.access as FleetAccess, principal });
  const endingWithCredential = (res: Response, endpoint: Endpoint, principal: Principal) => (endsWithRole: boolean) => {
    if (principal.kind === 'anonymous') return;
    const end = () => void res.destroy();
    const access = endpoint.access as FleetAccess; // as above
    const stream = { credential: res.locals.credential.token ?? '', principal, access, endsWithRole, end };
    res.once('close', streamCredentials.add(stream).remove);
  };
  /** What the operations of a request have in common. */
  const shared = (req: Request, res: Response, principal: Principal) => ({
    ...services,
    principal,
    placementQueue,
    candidates,
    address: req.ip ?? '',
    closeAsTooSlow: () => closeConnectionOf(res, 'too_slow'),
  });
  const enter: Enter<RequestContext> = async (req, res, endpoint) => {
    const principal = await authenticateRequest(req, res);
    admitTo(endpoint, principal);
    const endWithCredential = endingWithCredential(res, endpoint, principal);
    if (endpoint.stream !== undefined) endWithCredential(endpoint.stream === 'text/event-stream');
    const { closeAsTooSlow, ...others } = shared(req, res, principal);
    return {
      ...others,
      recording: res.locals.recording,
      ifMatch: () => matchesOf(req),
      idempotencyKey: req.get('Idempotency-Key'),
      lastEventId: req.get('Last-Event-ID'),
      connection: {
        endWithCredential: () => endWithCredential(true),
        onClose: (listener) => void (res.destroyed ? listener() : res.once('close', listener)),
        closeAsTooSlow,
      },
      cookie: (name) => parseCookies(req.headers.cookie ?? '')[name],
    };
  };
  const enterMcp: McpOptions['enter'] = async (req, res, signal) => {
    const principal = await authenticateRequest(req, res);
    admit({ policy, challenges }, { access: 'signed-in', principal });
    const { recording, writeParts } = res.locals;
    recording.isRequired = true;
    const { closeAsTooSlow, ...others } = shared(req, res, principal);
    return createCaller({
      routes,
      key: callerKey(principal),
      requestId: requestIdOf(res),
      signal,
      recording,
      writeRecords: writeParts,
      admit: (endpoint) => admitTo(endpoint, principal),
      contextFor: (endpoint, { version, idempotencyKey, onState }, part) => {
        const endWithCredential = endingWithCredential(res, endpoint, principal);
        if (endpoint.stream !== undefined) endWithCredential(false);
        return {
          ...others,
          recording: part,
          ifMatch: () => (current) => version === undefined || current === version,
          idempotencyKey,
          lastEventId: undefined,
          connection: {
            endWithCredential: () => endWithCredential(true),
            onClose: (listener) => void (signal.aborted ? listener() : signal.addEventListener('abort', listener)),
            closeAsTooSlow,
          },
          onState,
          cookie: () => undefined,
        };
      },
    });
  };
  const { database, publicUrl, corsOrigins, settings, confirmationKey } = services;
  return createService({
    ...options,
    version,
    publicUrl,
    corsOrigins,
    routes,
    enter,
    gate: createAuditGate({ database, readCredential: (req) => readBearer(req, challenges), rejectionLimits }),
    openapi: openApiDocument(fleetService),
    mountOthers: (app) =>
      mountMcp(app, {
        log: options.log,
        enter: enterMcp,
        serverFactory: createServerFactory({
          service: fleetMcp,
          log: options.log,
          confirmationKey,
          limits: callLimits,
        }),
        corsOrigins,
        signIn: { publicUrl, issuer: async () => (await settings.oidc()).issuer ?? undefined },
        stopping,
      }),
    observe: (metrics) => {
      observeSync(database)(metrics);
      observeFleet(database)(metrics);
      observePools(metrics, database.pools);
    },
  });
}

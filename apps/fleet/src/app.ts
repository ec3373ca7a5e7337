import { admit, challengesOf, createAuthenticator, readBearer } from '@svc/auth';
import { fleetService, openApiDocument } from '@svc/contract';
import { type FleetAccess, fleetEndpoints } from '@svc/contract/fleet';
import {
  closeConnectionOf,
  createService,
  createTurnQueue,
  type Enter,
  matchesOf,
  observeDatabase,
  observePools,
  pathOf,
  requestIdOf,
  type ServiceOptions,
} from '@svc/http';
import { parse as parseCookies } from 'cookie';
import type { Express } from 'express';
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

type OwnOptions = 'version' | 'routes' | 'enter' | 'openapi' | 'gate' | 'observe' | 'publicUrl' | 'corsOrigins';
export interface FleetOptions extends Omit<ServiceOptions<RequestContext>, OwnOptions> {
  readonly services: Services;
  /** The limits of production apply unless given. */
  readonly rejectionLimits?: RejectionLimits | undefined;
}

/** The limits of changes that acquire the placement lock. One makes progress at a time, while another one prepares. */
const PLACEMENTS = { what: 'requests that change deployments', running: 2, waitingPerCaller: 256, waitMs: 10_000 };

/** Creates the fleet as an Express application. It does not read the environment or listen on a port. */
export function createFleet({ services, rejectionLimits, ...options }: FleetOptions): Express {
  const challenges = challengesOf('fleet');
  const streamCredentials = createStreamCredentials(services, options.log);
  const authenticate = createAuthenticator(createVerifier(services), challenges);
  const placementQueue = createTurnQueue(PLACEMENTS);
  const candidates = createCandidates();
  const enter: Enter<RequestContext> = async (req, res, endpoint) => {
    const { credential, recording } = res.locals;
    const principal: Principal = (await authenticate(credential, recording)) ?? { kind: 'anonymous' };
    const actor = actorOf(principal);
    if (actor) recording.setActor(actor);
    res.locals.caller = callerKey(principal);
    if (principal.kind === 'temporary-admin')
      options.log.warn({ path: pathOf(req.originalUrl) }, 'the temporary admin is in use');
    // All endpoints in the contract of the fleet declare an access of this type.
    const access = endpoint.access as FleetAccess;
    admit({ policy, challenges }, { access, principal });
    const endWithCredential = (endsWithRole: boolean) => {
      if (principal.kind === 'anonymous') return;
      const end = () => void res.destroy();
      const stream = { credential: credential.token ?? '', principal, access, endsWithRole, end };
      res.once('close', streamCredentials.add(stream).remove);
    };
    if (endpoint.stream !== undefined) endWithCredential(endpoint.stream === 'text/event-stream');
    return {
      ...services,
      principal,
      requestId: requestIdOf(res),
      recording,
      placementQueue,
      candidates,
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
  const { database, publicUrl, corsOrigins } = services;
  return createService({
    ...options,
    version,
    publicUrl,
    corsOrigins,
    routes,
    enter,
    gate: createAuditGate({ database, readCredential: (req) => readBearer(req, challenges), rejectionLimits }),
    openapi: openApiDocument(fleetService),
    observe: (metrics) => {
      observeSync(database)(metrics);
      observeFleet(database)(metrics);
      observePools(metrics, database.pools);
      observeDatabase(metrics, () => database.client.$queryRaw`SELECT 1`);
    },
  });
}

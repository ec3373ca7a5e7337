import { fleetService, openApiDocument } from '@svc/contract';
import { fleetEndpoints } from '@svc/contract/fleet';
import { createService, observeDatabase, observePools, type ServiceOptions } from '@svc/http';
import { type CallLimits, createServerFactory, mountMcp } from '@svc/mcp';
import type { Express } from 'express';
import * as audit from './api/audit.ts';
import { acceptInvitation } from './api/auth/invitation.ts';
import { login } from './api/auth/login.ts';
import * as oidc from './api/auth/oidc.ts';
import { changeOwnPassword } from './api/auth/password.ts';
import * as browserSession from './api/auth/session.ts';
import * as ownSessions from './api/auth/sessions.ts';
import * as auth from './api/auth.ts';
import * as catalog from './api/catalog.ts';
import { watchChanges } from './api/changes.ts';
import * as clusterEvents from './api/clusters/events.ts';
import * as clusterOrphans from './api/clusters/orphans.ts';
import * as clusters from './api/clusters.ts';
import { implement, type RequestContext, type Services } from './api/context.ts';
import { readDeploymentLogs } from './api/deployments/logs.ts';
import { planDeployment } from './api/deployments/plan.ts';
import * as deployments from './api/deployments.ts';
import { createEnter, createSharedContexts } from './api/enter.ts';
import { listEvents } from './api/events.ts';
import * as hostEvents from './api/hosts/events.ts';
import * as hostOrphans from './api/hosts/orphans.ts';
import * as hosts from './api/hosts.ts';
import * as secrets from './api/secrets.ts';
import * as settings from './api/settings.ts';
import * as storage from './api/storage.ts';
import * as tokens from './api/tokens.ts';
import * as invitations from './api/users/invitation.ts';
import * as users from './api/users.ts';
import * as workloads from './api/workloads.ts';
import { createAuditGate } from './audit/gate.ts';
import type { RejectionLimits } from './audit/rejections.ts';
import { observeSync } from './catalog/sync-state.ts';
import { createAuthentication, readCredential } from './identity/authentication.ts';
import { createEnterMcp } from './mcp/enter.ts';
import { fleetMcp } from './mcp/service.ts';
import { observeFleet } from './reconciler/fleet-figures.ts';
import { version } from './version.ts';

const routes = implement(fleetEndpoints, {
  ...auth,
  login,
  changeOwnPassword,
  acceptInvitation,
  ...browserSession,
  ...ownSessions,
  ...oidc,
  ...catalog,
  ...users,
  ...invitations,
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
  | 'sessionOf'
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

/** Creates the fleet as an Express application. It does not read the environment or listen on a port. */
export function createFleet({
  services,
  rejectionLimits,
  stopping = new AbortController().signal,
  callLimits,
  ...options
}: FleetOptions): Express {
  const { database, publicUrl, corsOrigins, confirmationKey } = services;
  const authentication = createAuthentication({ services, publicUrl, log: options.log });
  const sharedContextOf = createSharedContexts(services, authentication);
  const issuer = async () => {
    const oidc = await services.settings.oidc();
    return services.providers.of(oidc) ? (oidc.issuer ?? undefined) : undefined;
  };
  return createService({
    ...options,
    version,
    publicUrl,
    corsOrigins,
    routes,
    enter: createEnter(authentication, sharedContextOf),
    sessionOf: authentication.sessionOf,
    gate: createAuditGate({ database, readCredential, rejectionLimits }),
    openapi: openApiDocument(fleetService),
    mountOthers: (app) =>
      mountMcp(app, {
        log: options.log,
        enter: createEnterMcp({ routes, authentication, sharedContextOf }),
        serverFactory: createServerFactory({
          service: fleetMcp,
          log: options.log,
          confirmationKey,
          limits: callLimits,
        }),
        corsOrigins,
        signIn: { publicUrl, issuer },
        stopping,
      }),
    observe: (metrics) => {
      observeSync(database)(metrics);
      observeFleet(database)(metrics);
      observePools(metrics, database.pools);
      observeDatabase(metrics, () => database.client.$queryRaw`SELECT 1`);
    },
  });
}

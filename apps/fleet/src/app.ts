import { admit, challengesOf, createAuthenticator, readBearer } from '@svc/auth';
import { fleetService, openApiDocument } from '@svc/contract';
import { type FleetAccess, fleetEndpoints } from '@svc/contract/fleet';
import { createService, type Enter, matchesOf, pathOf, type ServiceOptions } from '@svc/http';
import { parse as parseCookies } from 'cookie';
import type { Express } from 'express';
import * as audit from './audit/endpoints.ts';
import { createAuditGate } from './audit/gate.ts';
import { actorOf } from './audit/recording.ts';
import * as auth from './auth/endpoints.ts';
import { login } from './auth/local.ts';
import * as oidc from './auth/oidc-endpoints.ts';
import { createVerifier } from './authenticate.ts';
import { listMirroredCategories } from './catalog/categories.ts';
import { getSyncState, syncCatalog } from './catalog/sync-endpoints.ts';
import { observeSync } from './catalog/sync-metrics.ts';
import { getMirroredTemplate, listMirroredTemplates } from './catalog/templates.ts';
import { checkCluster } from './clusters/check.ts';
import * as clusters from './clusters/endpoints.ts';
import { implement, type RequestContext, type Services } from './context.ts';
import { createDeployment } from './deployments/create.ts';
import * as deployments from './deployments/endpoints.ts';
import { readDeploymentLogs } from './deployments/logs.ts';
import * as deploymentOperations from './deployments/operations.ts';
import { planDeployment } from './deployments/plan.ts';
import { checkHost } from './hosts/check.ts';
import * as hosts from './hosts/endpoints.ts';
import { policy } from './policy.ts';
import type { Principal } from './principal.ts';
import * as secrets from './secrets/endpoints.ts';
import * as settingsEndpoints from './settings/endpoints.ts';
import * as storage from './storage/endpoints.ts';
import * as tokens from './tokens/endpoints.ts';
import * as users from './users/endpoints.ts';
import * as workloads from './workloads/endpoints.ts';

const routes = implement(fleetEndpoints, {
  ...auth,
  login,
  ...oidc,
  listMirroredTemplates,
  getMirroredTemplate,
  listMirroredCategories,
  getSyncState,
  syncCatalog,
  ...users,
  ...tokens,
  ...settingsEndpoints,
  ...audit,
  ...hosts,
  checkHost,
  checkCluster,
  ...clusters,
  ...workloads,
  ...deployments,
  ...deploymentOperations,
  createDeployment,
  planDeployment,
  readDeploymentLogs,
  ...storage,
  ...secrets,
});

type Own = 'routes' | 'enter' | 'openapi' | 'gate' | 'observe' | 'publicUrl' | 'corsOrigins';
export interface FleetOptions extends Omit<ServiceOptions<RequestContext>, Own> {
  readonly services: Services;
}

/** The fleet, without a port and without an environment. */
export function createFleet({ services, ...options }: FleetOptions): Express {
  const challenges = challengesOf('fleet');
  const authenticate = createAuthenticator(createVerifier(services), challenges);
  const enter: Enter<RequestContext> = async (req, res, endpoint) => {
    const { credential, recording } = res.locals;
    const principal: Principal = (await authenticate(credential, recording)) ?? { kind: 'anonymous' };
    const actor = actorOf(principal);
    if (actor) recording.by(actor);
    res.locals.caller = callerOf(principal);
    if (principal.kind === 'temporary-admin')
      options.log.warn({ path: pathOf(req.originalUrl) }, 'the temporary admin is in use');
    const access = endpoint.access as FleetAccess; // every endpoint of the fleet's contract declares one
    admit({ policy, challenges }, { access, principal });
    return {
      ...services,
      principal,
      recording,
      address: req.ip ?? '',
      seen: () => matchesOf(req),
      idempotencyKey: req.get('Idempotency-Key'),
      cookie: (name) => parseCookies(req.headers.cookie ?? '')[name],
    };
  };
  const { database, publicUrl, corsOrigins } = services;
  return createService({
    ...options,
    publicUrl,
    corsOrigins,
    routes,
    enter,
    gate: createAuditGate(database, (req) => readBearer(req, challenges)),
    openapi: openApiDocument(fleetService),
    observe: observeSync(database),
  });
}

/** Who called, for the log of requests. */
const callerOf = (principal: Principal) => ('id' in principal ? `${principal.kind} ${principal.id}` : principal.kind);

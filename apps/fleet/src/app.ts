import { admit, challengesOf, createAuthenticator } from '@svc/auth';
import { fleetService, openApiDocument } from '@svc/contract';
import { type FleetAccess, fleetEndpoints } from '@svc/contract/fleet';
import { createService, type Enter, pathOf, type ServiceOptions } from '@svc/http';
import type { Express } from 'express';
import { createAuditGate } from './audit/gate.ts';
import { login, logout, me, refresh } from './auth/endpoints.ts';
import type { Sessions } from './auth/sessions.ts';
import { createVerifier } from './authenticate.ts';
import { listMirroredCategories } from './catalog/categories.ts';
import type { Sync } from './catalog/sync.ts';
import { getSyncState, syncCatalog } from './catalog/sync-endpoints.ts';
import { observeSync } from './catalog/sync-metrics.ts';
import { getMirroredTemplate, listMirroredTemplates } from './catalog/templates.ts';
import { implement, type RequestContext } from './context.ts';
import type { Database } from './database/client.ts';
import { policy } from './policy.ts';
import type { Principal } from './principal.ts';

const routes = implement(fleetEndpoints, {
  login,
  refresh,
  logout,
  me,
  listMirroredTemplates,
  getMirroredTemplate,
  listMirroredCategories,
  getSyncState,
  syncCatalog,
});

export interface FleetOptions
  extends Omit<ServiceOptions<RequestContext>, 'routes' | 'enter' | 'openapi' | 'gate' | 'observe'> {
  readonly database: Database;
  readonly sessions: Sessions;
  readonly sync: Sync;
}

/** The fleet, without a port and without an environment. */
export function createFleet({ database, sessions, sync, ...options }: FleetOptions): Express {
  const challenges = challengesOf('fleet');
  const authenticate = createAuthenticator(createVerifier(database, sessions), challenges);
  const enter: Enter<RequestContext> = async (req, res, endpoint) => {
    const principal: Principal = (await authenticate(req)) ?? { kind: 'anonymous' };
    res.locals.caller = principal.kind === 'token' ? `token ${principal.id}` : principal.kind;
    if (principal.kind === 'temporary-admin')
      options.log.warn({ path: pathOf(req.originalUrl) }, 'the temporary admin is in use');
    const access = endpoint.access as FleetAccess; // every endpoint of the fleet's contract declares one
    admit({ policy, challenges }, { access, principal });
    return { database, principal, sessions, sync, address: req.ip ?? '' };
  };
  const gate = createAuditGate(database);
  return createService({
    ...options,
    routes,
    enter,
    gate,
    openapi: openApiDocument(fleetService),
    observe: observeSync(database),
  });
}

import { admit, challengesOf, createAuthenticator, readBearer } from '@svc/auth';
import { hubService, openApiDocument } from '@svc/contract';
import { type HubAccess, hubEndpoints } from '@svc/contract/hub';
import { createService, type Enter, hasEtagOf, matchesOf, pathOf, requestIdOf, type ServiceOptions } from '@svc/http';
import type { Express } from 'express';
import * as accountApiKeys from './account/api-keys.ts';
import * as accountOrganizations from './account/organizations.ts';
import * as accountProfile from './account/profile.ts';
import * as adminApiKeys from './admin/api-keys.ts';
import { listAuditEntries } from './admin/audit.ts';
import * as adminCatalogAccess from './admin/catalog-access.ts';
import * as adminCategories from './admin/categories.ts';
import * as adminOrganizations from './admin/organizations.ts';
import { getStats } from './admin/stats.ts';
import * as adminTemplates from './admin/templates.ts';
import * as adminUsers from './admin/users.ts';
import { createVerifier, type IdentityProvider } from './authenticate.ts';
import { listCategories } from './catalog/categories.ts';
import { getOwnOrganization } from './catalog/organization.ts';
import { createPageQueue } from './catalog/templates/updates/page-queue.ts';
import { createStreamSlots, type StreamLimits } from './catalog/templates/updates/stream-slots.ts';
import { listTemplateUpdates } from './catalog/templates/updates.ts';
import { getTemplate, listTemplates } from './catalog/templates.ts';
import { implement, type RequestContext } from './context.ts';
import type { Database } from './database/client.ts';
import { policy } from './policy.ts';
import { type Principal, viewerOf } from './principal.ts';

const routes = implement(hubEndpoints, {
  listTemplates,
  listTemplateUpdates,
  getTemplate,
  listCategories,
  getOwnOrganization,
  ...accountApiKeys,
  ...accountOrganizations,
  ...accountProfile,
  ...adminTemplates,
  ...adminCategories,
  ...adminCatalogAccess,
  ...adminUsers,
  ...adminOrganizations,
  ...adminApiKeys,
  getStats,
  listAuditEntries,
});

export interface HubOptions extends Omit<ServiceOptions<RequestContext>, 'routes' | 'enter' | 'openapi'> {
  readonly database: Database;
  readonly provider: IdentityProvider;
  /** The limits of production apply unless given. */
  readonly streamLimits?: StreamLimits | undefined;
}

/** Creates the Express application of the hub. It does not listen on a port and does not read the environment. */
export function createHub({ database, provider, streamLimits, ...options }: HubOptions): Express {
  const streamSlots = createStreamSlots(streamLimits);
  const pageQueue = createPageQueue();
  const challenges = challengesOf('hub');
  const authenticate = createAuthenticator(createVerifier(database, provider), challenges);
  const enter: Enter<RequestContext> = async (req, res, endpoint) => {
    const principal: Principal = (await authenticate(readBearer(req, challenges), undefined)) ?? { kind: 'anonymous' };
    res.locals.caller = callerOf(principal);
    const access = endpoint.access as HubAccess; // every endpoint of the contract of the hub declares a HubAccess
    admit({ policy, challenges }, { access, principal });
    return {
      database,
      principal,
      viewer: viewerOf(principal),
      address: req.ip ?? '',
      streamSlots,
      pageQueue,
      request: { id: requestIdOf(res), method: req.method, path: pathOf(req.originalUrl) },
      headOnly: req.method === 'HEAD',
      hasEtag: hasEtagOf(req),
      ifMatch: () => matchesOf(req),
    };
  };
  return createService({ ...options, routes, enter, openapi: openApiDocument(hubService) });
}

/** The caller as it appears in the log. */
function callerOf(principal: Principal): string {
  switch (principal.kind) {
    case 'anonymous':
      return 'anonymous';
    case 'organization':
      return `key ${principal.keyId}`;
    case 'user':
      return `user ${principal.id}`;
  }
}

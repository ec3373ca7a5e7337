import { admit, challengesOf, createAuthenticator } from '@svc/auth';
import { hubService, openApiDocument } from '@svc/contract';
import { type HubAccess, hubEndpoints } from '@svc/contract/hub';

import { createService, type Enter, type ServiceOptions } from '@svc/http';
import type { Express } from 'express';
import * as adminCategories from './admin/categories.ts';
import * as adminTemplates from './admin/templates.ts';
import { createVerifier, type IdentityProvider } from './authenticate.ts';
import { listCategories } from './catalog/categories.ts';
import { getOwnOrganization } from './catalog/organization.ts';
import { getTemplate, listTemplates } from './catalog/templates.ts';
import { listTemplateUpdates } from './catalog/updates.ts';
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
  listAllTemplates: adminTemplates.listAllTemplates,
  createTemplate: adminTemplates.createTemplate,
  updateTemplate: adminTemplates.updateTemplate,
  listAllCategories: adminCategories.listAllCategories,
  createCategory: adminCategories.createCategory,
  updateCategory: adminCategories.updateCategory,
});

export interface HubOptions extends Omit<ServiceOptions<RequestContext>, 'routes' | 'enter' | 'openapi'> {
  readonly database: Database;
  readonly provider: IdentityProvider;
}

/** The hub, without a port and without an environment. */
export function createHub({ database, provider, ...options }: HubOptions): Express {
  const challenges = challengesOf('hub');
  const authenticate = createAuthenticator(createVerifier(database, provider), challenges);
  const enter: Enter<RequestContext> = async (req, res, endpoint) => {
    const principal: Principal = (await authenticate(req)) ?? { kind: 'anonymous' };
    res.locals.caller = callerOf(principal);
    const access = endpoint.access as HubAccess; // every endpoint of the hub's contract declares one
    admit({ policy, challenges }, { access, principal });
    return { database, principal, viewer: viewerOf(principal), headOnly: req.method === 'HEAD' };
  };
  return createService({ ...options, routes, enter, openapi: openApiDocument(hubService) });
}

/** Who called, for the log. */
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

import { randomBytes } from 'node:crypto';
import {
  admit,
  challengesOf,
  createAuthenticator,
  createBrowserSessions,
  createKnownSessions,
  readBearer,
} from '@svc/auth';
import { type Endpoint, hubService, openApiDocument } from '@svc/contract';
import { type HubAccess, hubEndpoints } from '@svc/contract/hub';
import {
  createService,
  createTurnQueue,
  type Enter,
  hasEtagOf,
  matchesOf,
  observeDatabase,
  observePools,
  pathOf,
  requestIdOf,
  type ServiceOptions,
} from '@svc/http';
import { createServerFactory, MCP_PATH, type McpOptions, mountMcp } from '@svc/mcp';
import { parse as parseCookies } from 'cookie';
import type { Express, Request, Response } from 'express';
import * as accountAccessRequests from './api/account/access-requests.ts';
import * as accountApiKeys from './api/account/api-keys.ts';
import * as accountInvitations from './api/account/invitations.ts';
import * as accountMembers from './api/account/members.ts';
import * as accountOrganizations from './api/account/organizations.ts';
import * as accountProfile from './api/account/profile.ts';
import * as adminAccessRequests from './api/admin/access-requests.ts';
import * as adminApiKeys from './api/admin/api-keys.ts';
import { listAuditEntries } from './api/admin/audit.ts';
import * as adminCatalogAccess from './api/admin/catalog-access.ts';
import * as adminCategories from './api/admin/categories.ts';
import * as adminOrganizations from './api/admin/organizations.ts';
import { getStats } from './api/admin/stats.ts';
import * as adminTemplates from './api/admin/templates.ts';
import * as adminUsers from './api/admin/users.ts';
import { planVisibility } from './api/admin/visibility/plan.ts';
import * as oidc from './api/auth/oidc.ts';
import * as browserSession from './api/auth/session.ts';
import * as ownSessions from './api/auth/sessions.ts';
import { getAuthConfig } from './api/auth.ts';
import { listCategories } from './api/catalog/categories.ts';
import { getOwnOrganization } from './api/catalog/organization.ts';
import { listTemplateUpdates } from './api/catalog/templates/updates.ts';
import { getTemplate, listTemplates } from './api/catalog/templates.ts';
import { implement, type RequestContext } from './api/context.ts';
import { createStreamSlots, type StreamLimits } from './catalog/changes/stream-slots.ts';
import type { CachedCatalog } from './catalog/memory/cached-catalog.ts';
import { observeCatalog } from './catalog/memory/metrics.ts';
import type { Usage } from './catalog/usage.ts';
import type { Database } from './database/client.ts';
import { createVerifier, type IdentityProvider, verifyReference } from './identity/authenticate.ts';
import { policy } from './identity/policy.ts';
import { callerKey, type Principal, viewerOf } from './identity/principal.ts';
import { createCaller } from './mcp/caller.ts';
import { hubMcp } from './mcp/service.ts';
import { createRevisionCheck, type Revision, type RevisionCheck } from './revision/revision.ts';
import { version } from './version.ts';

const routes = implement(hubEndpoints, {
  listTemplates,
  listTemplateUpdates,
  getTemplate,
  listCategories,
  getOwnOrganization,
  getAuthConfig,
  ...oidc,
  ...browserSession,
  ...ownSessions,
  ...accountApiKeys,
  ...accountOrganizations,
  ...accountMembers,
  ...accountInvitations,
  ...accountAccessRequests,
  ...adminAccessRequests,
  ...accountProfile,
  ...adminTemplates,
  ...adminCategories,
  ...adminCatalogAccess,
  ...adminUsers,
  planVisibility,
  ...adminOrganizations,
  ...adminApiKeys,
  getStats,
  listAuditEntries,
});

export interface HubOptions
  extends Omit<
    ServiceOptions<RequestContext>,
    'version' | 'routes' | 'enter' | 'openapi' | 'sessionOf' | 'mountOthers' | 'observe'
  > {
  readonly database: Database;
  readonly provider: IdentityProvider;
  readonly catalog: CachedCatalog;
  readonly usage: Usage;
  /** By default, a check with the database for each group of concurrent requests. */
  readonly revisions?: RevisionCheck | undefined;
  /** The limits of production apply unless given. */
  readonly streamLimits?: StreamLimits | undefined;
  /** Whether frequent reads are served without Express, as in production. Tests compare both ways. Default: true. */
  readonly isFast?: boolean | undefined;
  /** Aborts when the process is told to stop. */
  readonly stopping?: AbortSignal | undefined;
}

/** The number of characters of a `User-Agent` that are stored. */
const MAX_USER_AGENT = 300;

/** The limits of reads of changes from the database. */
const CHANGE_READS = { what: 'requests for changes', running: 2, waitingPerCaller: 16, waitMs: 1500 };

/** Creates the Express application of the hub. It does not listen on a port and does not read the environment. */
export function createHub({
  database,
  provider,
  catalog,
  usage,
  streamLimits,
  revisions = createRevisionCheck(database.revisionReader),
  isFast = true,
  stopping = new AbortController().signal,
  ...options
}: HubOptions): Express {
  const streamSlots = createStreamSlots(streamLimits);
  const [pageQueue, changeQueue] = [createTurnQueue(CHANGE_READS), createTurnQueue(CHANGE_READS)];
  const challenges = challengesOf('hub');
  const authenticate = createAuthenticator(createVerifier({ database, provider, usage }), challenges);
  const browserSessions = createBrowserSessions('hub', options.publicUrl);
  const knownSessions = createKnownSessions();
  const inBrowser = async (req: Request) => {
    const reference = browserSessions.read(req);
    return reference === undefined ? undefined : verifyReference(database, provider, reference);
  };
  const enterRequest = async (req: Request, res: Response) => {
    const revision = once(() => revisions.latest());
    const credential = readBearer(req, challenges);
    // A request with a bearer credential never uses the cookie.
    const principal: Principal = (await authenticate(credential, { revision })) ??
      (await inBrowser(req)) ?? { kind: 'anonymous' };
    if (principal.kind === 'user' && principal.sessionId !== undefined) {
      knownSessions.remember(browserSessions.find(req) ?? '', principal.sessionId);
    }
    res.locals.caller = callerOf(principal);
    return {
      database,
      catalog,
      usage,
      revision,
      principal,
      viewer: viewerOf(principal),
      address: req.ip ?? '',
      provider,
      publicUrl: options.publicUrl,
      browserSessions,
      cookie: (name: string) => parseCookies(req.headers.cookie ?? '')[name],
      userAgent: req.headers['user-agent']?.slice(0, MAX_USER_AGENT) ?? null,
      streamSlots,
      pageQueue,
      changeQueue,
    };
  };
  const admitTo = ({ access }: Endpoint, principal: Principal) =>
    admit({ policy, challenges }, { access: access as HubAccess, principal }); // every endpoint of the hub declares one
  const enter: Enter<RequestContext> = async (req, res, endpoint) => {
    const entered = await enterRequest(req, res);
    admitTo(endpoint, entered.principal);
    return {
      ...entered,
      request: { id: requestIdOf(res), method: req.method, path: pathOf(req.originalUrl) },
      headOnly: req.method === 'HEAD',
      hasEtag: hasEtagOf(req),
      ifMatch: () => matchesOf(req),
    };
  };
  const enterMcp: McpOptions['enter'] = async (req, res, signal) => {
    const entered = await enterRequest(req, res);
    const { principal, address } = entered;
    const request = { id: requestIdOf(res), method: req.method, path: MCP_PATH };
    const context = { ...entered, request, headOnly: false, hasEtag: () => false, ifMatch: () => () => true };
    return createCaller({
      routes,
      key: callerKey(principal, address),
      requestId: request.id,
      signal,
      admit: (endpoint) => admitTo(endpoint, principal),
      context,
    });
  };
  const fastRoutes = isFast ? [listTemplates, listTemplateUpdates, getTemplate, listCategories] : [];
  return createService({
    ...options,
    version,
    routes,
    fastRoutes,
    enter,
    sessionOf: (req) => knownSessions.of(browserSessions.find(req)),
    openapi: openApiDocument(hubService),
    mountOthers: (app) =>
      mountMcp(app, {
        log: options.log,
        enter: enterMcp,
        // Its tools only read, so that it never signs a confirmation.
        serverFactory: createServerFactory({ service: hubMcp, log: options.log, confirmationKey: randomBytes(32) }),
        corsOrigins: options.corsOrigins,
        signIn: { publicUrl: options.publicUrl, issuer: async () => undefined }, // the catalog needs no sign-in
        stopping,
      }),
    observe: (metrics) => {
      observeCatalog(catalog)(metrics);
      observePools(metrics, database.pools);
      observeDatabase(metrics, () => database.client.$queryRaw`SELECT 1`);
    },
  });
}

/** Reads a value when it is first needed. */
function once(read: () => Promise<Revision>): () => Promise<Revision> {
  let value: Promise<Revision> | undefined;
  return () => {
    value ??= read();
    return value;
  };
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

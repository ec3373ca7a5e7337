import type { Sealer } from '@svc/database';
import { type Delivery, observeDeliveries, observeWebhooks } from '@svc/delivery';
import {
  createService,
  type Diagnosis,
  type Log,
  type OutboundAllowance,
  observeDatabase,
  observePools,
  readOpenApi,
  type ServiceOptions,
} from '@svc/http';
import { type CallLimits, createServerFactory, mountMcp } from '@svc/mcp';
import type { Express } from 'express';
import type { RequestContext, Services } from './api/request/context.ts';
import { createEnter, createSharedContexts, createTurns, type Turns } from './api/request/enter.ts';
import { routes } from './api/routes.ts';
import { auditQueryOf } from './audit/entries.ts';
import { createAuditGate } from './audit/gate.ts';
import type { RejectionLimits } from './audit/rejections.ts';
import type { CatalogTimings } from './catalog/schedule.ts';
import { createSync } from './catalog/sync.ts';
import { observeSync } from './catalog/sync-state.ts';
import { createChangeFeed, type FeedTimings } from './changes/feed.ts';
import type { Database } from './database/client.ts';
import { createAuthentication, readCredential } from './identity/authentication.ts';
import type { Passwords } from './identity/passwords/passwords.ts';
import { createPolicy, type RevealSetting } from './identity/policy.ts';
import type { SigningKey } from './identity/sessions/session-tokens.ts';
import { createSessions } from './identity/sessions/sessions.ts';
import type { TemporaryAdmin } from './identity/sessions/temporary-admin.ts';
import { createEnterMcp } from './mcp/enter.ts';
import { fleetMcp, mcpUrlOf } from './mcp/service.ts';
import type { Subnet } from './placement/subnets.ts';
import { createEngineRuntime } from './reconciler/engine-runtime.ts';
import { observeFleet } from './reconciler/fleet-figures.ts';
import type { ReconcilerTimings } from './reconciler/timings.ts';
import type { DefaultLimits } from './render/defaults.ts';
import { createHubs, createProviders, type OutboundRoutes } from './settings/connections.ts';
import { createSettings, type Settings, type SettingsEnvironment } from './settings/settings.ts';
import type { SourceTimings } from './sources/sources.ts';
import { version } from './version.ts';
import type { WebhookTimings } from './webhooks/webhooks.ts';

/** The timings of production apply unless given. */
export interface FleetTimings {
  readonly catalog?: CatalogTimings | undefined;
  readonly reconciler?: ReconcilerTimings | undefined;
  readonly changes?: Partial<FeedTimings> | undefined;
  readonly webhooks?: WebhookTimings | undefined;
  readonly sources?: SourceTimings | undefined;
}

interface ServicesOptions {
  readonly database: Database;
  readonly sealer: Sealer;
  readonly signingKey: SigningKey;
  readonly log: Log;
  readonly environment: SettingsEnvironment;
  readonly toHub: OutboundRoutes;
  readonly toProvider: OutboundRoutes;
  /** The permitted targets besides public `https` addresses. */
  readonly outboundAllow: ReadonlySet<OutboundAllowance>;
  readonly passwords: Passwords;
  readonly temporaryAdmin: TemporaryAdmin | undefined;
  /** The limits of containers whose workload requests nothing. */
  readonly defaultLimits: DefaultLimits;
  /** The port at which this process serves its API. Default: not known. */
  readonly servicePort?: number | undefined;
  readonly revealValues: RevealSetting;
  /** Maximum number of deployments that this process reconciles concurrently. */
  readonly concurrency: number;
  /** The maximum number of automatic rollouts at the same time, of all replicas. */
  readonly updateConcurrency: number;
  /** The subnets from which networks of hosts are allocated. Default: 10.213.0.0/16. */
  readonly networkPool?: Subnet | undefined;
  readonly publicUrl: string | undefined;
  /** The longest time until the expiry of an access token of the provider, in hours. Default: 24. */
  readonly maxTokenHours?: number | undefined;
  readonly corsOrigins: readonly string[];
  readonly timings?: FleetTimings | undefined;
  /** Creates the diagnosis of the service, with its settings. */
  readonly diagnose: (settings: Settings) => Diagnosis;
}

/** The document that `pnpm openapi` writes. */
const openapi = readOpenApi(new URL('../../../openapi/fleet.json', import.meta.url));

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
interface AppOptions extends Omit<ServiceOptions<RequestContext>, OwnOptions> {
  readonly services: Services;
  /** Default: new ones, with `placementWaitMs`. */
  readonly turns?: Turns | undefined;
  /** Aborts when the process is told to stop. Calls of tools that wait then end. */
  readonly stopping?: AbortSignal | undefined;
  /** The deliveries of the process to other systems, for the metrics. Default: none. */
  readonly deliveries?: readonly Delivery[] | undefined;
  /** The limits of production apply unless given. */
  readonly callLimits?: CallLimits | undefined;
  /** The limits of production apply unless given. */
  readonly rejectionLimits?: RejectionLimits | undefined;
  /** Milliseconds for a check of the credentials of all streams. The limit of production applies unless given. */
  readonly streamCheckMs?: number | undefined;
  /** Milliseconds that a change of deployments waits for its turn. The limit of production applies unless given. */
  readonly placementWaitMs?: number | undefined;
}

export interface Fleet {
  readonly app: Express;
  readonly services: Services;
  readonly turns: Turns;
}

/**
 * Creates a fleet. It does not read the environment, listen on a port, or start background work.
 */
export function createFleet(
  options: ServicesOptions,
  appOptions: Omit<AppOptions, 'services' | 'turns' | 'log'>,
): Fleet {
  const services = createServices(options);
  const turns = createTurns(services, appOptions.placementWaitMs);
  return { services, turns, app: createApp({ ...appOptions, services, turns, log: options.log }) };
}

function createServices(options: ServicesOptions): Services {
  const { database, sealer, signingKey, log, toProvider, defaultLimits, publicUrl, timings = {} } = options;
  const settings = createSettings(database, sealer, options.environment);
  const hubs = createHubs(options.toHub);
  return {
    database,
    settings,
    sessions: createSessions({ database, sealer, settings, signingKey, temporaryAdmin: options.temporaryAdmin }),
    passwords: options.passwords,
    policy: createPolicy(options.revealValues),
    providers: createProviders(toProvider, { resource: mcpUrlOf(publicUrl), maxTokenHours: options.maxTokenHours }),
    hubs,
    sync: createSync({
      database,
      log,
      readHub: async () => {
        const hub = await settings.hub();
        return { hub: hubs.of(hub), intervalSeconds: hub.sync_interval };
      },
      timings: timings.catalog,
    }),
    engineRuntime: createEngineRuntime({
      database,
      settings,
      sealer,
      log,
      allowed: options.outboundAllow,
      timings: timings.reconciler,
      concurrency: options.concurrency,
      updateConcurrency: options.updateConcurrency,
      networkPool: options.networkPool,
      defaultLimits,
    }),
    refusalOf: toProvider.restricted.refusalOf,
    defaultLimits,
    networkPool: options.networkPool,
    servicePort: options.servicePort,
    changes: createChangeFeed({ database, settings, defaultLimits, log, timings: timings.changes }),
    confirmationKey: signingKey.deriveSecret('mcp-confirmations'),
    publicUrl,
    corsOrigins: options.corsOrigins,
    diagnosis: options.diagnose(settings),
  };
}

/** Creates the Express application of a fleet. */
export function createApp({
  services,
  rejectionLimits,
  stopping = new AbortController().signal,
  deliveries = [],
  callLimits,
  streamCheckMs,
  placementWaitMs,
  turns = createTurns(services, placementWaitMs),
  ...options
}: AppOptions): Express {
  const { database, publicUrl, corsOrigins, confirmationKey } = services;
  const authentication = createAuthentication({ services, publicUrl, log: options.log, streamCheckMs });
  const sharedContextOf = createSharedContexts(services, turns, authentication);
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
    openapi,
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
      observeDeliveries(metrics, deliveries);
      observeWebhooks(metrics, auditQueryOf(database));
      observePools(metrics, database.pools);
      observeDatabase(metrics, () => database.client.$queryRaw`SELECT 1`);
    },
  });
}

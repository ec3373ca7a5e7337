import { randomBytes } from 'node:crypto';
import { createBrowserSessions } from '@svc/auth';
import { type Delivery, observeDeliveries, observeWebhooks } from '@svc/delivery';
import {
  createService,
  createTurnQueue,
  LARGE_PAGES,
  type Metrics,
  observeDatabase,
  observePools,
  readOpenApi,
  type ServiceOptions,
} from '@svc/http';
import { createServerFactory, type McpOptions, mountMcp } from '@svc/mcp';
import type { Express } from 'express';
import { createAtOnce } from './api/request/at-once.ts';
import type { RequestContext, Services } from './api/request/context.ts';
import { createEntrance } from './api/request/entrance.ts';
import { frequentReads, polls, routes } from './api/routes.ts';
import { auditQueryOf } from './audit/entries.ts';
import { createStreamSlots, type StreamLimits } from './catalog/changes/stream-slots.ts';
import { observeCatalog } from './catalog/memory/metrics.ts';
import { createMcpEntrance } from './mcp/entrance.ts';
import { hubMcp } from './mcp/service.ts';
import { createRevisionCheck, type RevisionCheck } from './revision/revision.ts';
import { version } from './version.ts';

type CommonOptions = Omit<
  ServiceOptions<RequestContext>,
  'version' | 'routes' | 'fastRoutes' | 'atOnce' | 'enter' | 'openapi' | 'sessionOf' | 'mountOthers' | 'observe'
>;

export interface HubOptions
  extends CommonOptions,
    Pick<Services, 'database' | 'provider' | 'catalog' | 'usage' | 'diagnosis' | 'keys' | 'refusalOf'> {
  /** By default, a check with the database for each group of concurrent requests. */
  readonly revisions?: RevisionCheck | undefined;
  /** The deliveries of the process to other systems, for the metrics. Default: none. */
  readonly deliveries?: readonly Delivery[] | undefined;
  /** The limits of production apply unless given. */
  readonly streamLimits?: StreamLimits | undefined;
  /** How long a read of changes waits for others, in milliseconds. The limit of production applies unless given. */
  readonly changeWaitMs?: number | undefined;
  /**
   * Whether frequent reads are served without Express, as in production. Tests compare both ways.
   * Default: true.
   */
  readonly isFast?: boolean | undefined;
  /** Aborts when the process is told to stop. */
  readonly stopping?: AbortSignal | undefined;
}

/** The document that `pnpm openapi` writes. */
const openapi = readOpenApi(new URL('../../../openapi/hub.json', import.meta.url));

/** The limits of reads of changes from the database, without the time that they wait. */
const CHANGE_READS = { what: 'requests for changes', running: 2, waitingPerCaller: 16 };
/** Two pages that are built at the same time delay other requests by twice the time, and are not ready earlier. */
const PAGE_READS = { ...CHANGE_READS, running: 1 };
const CHANGE_WAIT_MS = 1500;

/** The limits of imports and exports of the catalog. */
const PUBLISHING = { what: 'imports and exports', running: 1, waitingPerCaller: 2, waitMs: 30_000 };

/**
 * Creates the Express application of the hub. It does not listen on a port and does not read the
 * environment.
 */
export function createHub({
  database,
  provider,
  catalog,
  usage,
  diagnosis,
  keys,
  refusalOf,
  deliveries = [],
  streamLimits,
  changeWaitMs = CHANGE_WAIT_MS,
  revisions = createRevisionCheck(database.revisionReader),
  isFast = true,
  stopping = new AbortController().signal,
  ...options
}: HubOptions): Express {
  const services: Services = {
    database,
    provider,
    catalog,
    usage,
    diagnosis,
    keys,
    refusalOf,
    publicUrl: options.publicUrl,
    browserSessions: createBrowserSessions('hub', options.publicUrl),
    streamSlots: createStreamSlots(streamLimits),
    pageQueue: createTurnQueue({ ...PAGE_READS, waitMs: changeWaitMs }),
    changeQueue: createTurnQueue({ ...CHANGE_READS, waitMs: changeWaitMs }),
    listQueue: createTurnQueue(LARGE_PAGES),
    publishQueue: createTurnQueue(PUBLISHING),
  };
  const entrance = createEntrance(services, revisions);
  const mcp = mcpOptions(options, createMcpEntrance(entrance, routes), stopping);
  const { knownKeys } = entrance;
  return createService({
    ...options,
    version,
    routes,
    fastRoutes: isFast ? frequentReads : [],
    atOnce: createAtOnce({ services, revisions, knownKeys, reads: frequentReads, polls }),
    enter: entrance.enter,
    sessionOf: entrance.sessionOf,
    openapi,
    mountOthers: (app) => mountMcp(app, mcp),
    observe: (metrics) => {
      observeServices(services, metrics);
      observeDeliveries(metrics, deliveries);
      observeWebhooks(metrics, auditQueryOf(database));
    },
  });
}

const mcpOptions = (
  { log, corsOrigins, publicUrl }: CommonOptions,
  enter: McpOptions['enter'],
  stopping: AbortSignal,
): McpOptions => ({
  log,
  enter,
  // Its tools only read, so that it never signs a confirmation.
  serverFactory: createServerFactory({ service: hubMcp, log, confirmationKey: randomBytes(32) }),
  corsOrigins,
  signIn: { publicUrl, issuer: async () => undefined }, // the catalog needs no sign-in
  stopping,
});

/** Registers the metrics of the catalog in memory and of the database. */
function observeServices({ catalog, database }: Services, metrics: Metrics): void {
  observeCatalog(catalog)(metrics);
  observePools(metrics, database.pools);
  observeDatabase(metrics, () => database.client.$queryRaw`SELECT 1`);
}

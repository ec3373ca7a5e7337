import { CallError, type Category } from '@svc/contract';
import { type Log, type PeriodicTask, Problem, processMetrics, traced, unavailable } from '@svc/http';
import { Counter } from 'prom-client';
import type { Database } from '../database/client.ts';
import { logEvents } from '../events/record.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { syncApplications } from './applications.ts';
import { importBundle } from './bundle-import.ts';
import { readChangelogs } from './changelogs.ts';
import { reportDownloads } from './download-reports.ts';
import type { ApplicationSource, CatalogSource, Hub, Organization } from './hub.ts';
import { fetchKeyrings } from './keyrings.ts';
import { applyPage, applyRepeatedPage, LeaseLost, markRepeated, pagesToRepeat, type SyncCounts } from './mirror.ts';
import { cursorReaderOf, type Entries, readCategories, readPage, type TemplatePage } from './read.ts';
import {
  type CatalogTimings,
  DEFAULT_TIMINGS,
  type Lease,
  runOnSchedule,
  secondsUntilDue,
  takeLease,
} from './schedule.ts';
import {
  classifyFailure,
  recordFailure,
  recordRecovery,
  resolveStale,
  scheduleNext,
  withJitter,
} from './sync-state.ts';
import { storeVerdicts } from './verdicts.ts';

/** Runs work one at a time. One run serves all requests that were made before it started. */
interface Mutex<Request> {
  /**
   * Runs the work. While a run is in progress, it waits for the next run, which serves all waiting
   * requests.
   */
  run(request: Request): Promise<void>;
  /** Resolves when no run is in progress and no request waits. */
  idle(): Promise<void>;
}

function createMutex<Request>(work: (requests: readonly Request[]) => Promise<void>): Mutex<Request> {
  let running: Promise<void> | undefined;
  let next: { readonly requests: Request[]; readonly done: Promise<void> } | undefined;
  const start = (requests: readonly Request[]): Promise<void> => {
    running = work(requests).finally(() => {
      running = undefined;
    });
    return running;
  };
  return {
    run: (request) => {
      if (next) {
        next.requests.push(request);
        return next.done;
      }
      if (!running) return start([request]);
      const requests = [request];
      const done = running
        .catch(() => undefined) // the callers of that run receive the error
        .then(() => {
          next = undefined;
          return start(requests);
        });
      next = { requests, done };
      return done;
    },
    idle: async () => {
      while (running) await (next?.done ?? running).catch(() => undefined);
    },
  };
}

/** Keeps the mirror up to date with the hub. */
export interface Sync {
  /**
   * Syncs incrementally, or with a full walk. While another sync runs, on this or another replica,
   * it waits for the next one, which serves all waiting requests. The hub logs `requestId`, or that
   * of another request that the sync serves.
   * @throws hub_not_configured; hub_unreachable with the reason, which is also stored in the state;
   * unavailable
   */
  run(request?: { readonly full?: boolean; readonly requestId?: string }): Promise<void>;
  /**
   * Replaces the mirror with the catalog of a bundle, after a sync in progress.
   * @throws as `importBundle`
   */
  importBundle(bytes: Uint8Array, options: { readonly force: boolean }): Promise<void>;
  /**
   * Starts to report first deployments of templates to the hub. A report that fails is repeated
   * after a later sync.
   */
  reportDownloads(requestId?: string): void;
  /** Syncs now and each time a sync is due, once for all replicas, until stopped. */
  start(): void;
  /** Stops syncing. Resolves when the last sync has ended. */
  stop(): Promise<void>;
}

interface SyncRequest {
  readonly full: boolean;
  readonly requestId?: string | undefined;
  /** Whether the schedule made the request. The sync is skipped if it is no longer due. */
  readonly scheduled: boolean;
}

/** The current settings: the hub, and the seconds between two syncs (0: only on demand). */
interface HubConnection {
  readonly hub: Hub | undefined;
  readonly intervalSeconds: number;
}

export interface SyncOptions {
  readonly database: Database;
  /** Called for each sync, so that changed settings take effect without a restart. */
  readonly readHub: () => Promise<HubConnection>;
  readonly log: Log;
  readonly timings?: CatalogTimings | undefined;
}

export function createSync({ database, readHub, log, timings = DEFAULT_TIMINGS }: SyncOptions): Sync {
  let stopped = false;
  let schedule: PeriodicTask | undefined;
  const { run, idle } = createMutex<SyncRequest>(async (requests) => {
    const { hub, intervalSeconds } = await readHub();
    if (!hub) throw new Problem('hub_not_configured', NO_HUB);
    const full = requests.some((request) => request.full);
    const onlyIfDue = requests.every((request) => request.scheduled);
    const requestId = requests.map((request) => request.requestId).find((id) => id !== undefined);
    const context = {
      database,
      hub: hub.forRequest(requestId),
      intervalSeconds,
      isStopped: () => stopped,
      log,
      timings,
    };
    const span = () => ({ name: 'catalog sync', kind: 'internal' }) as const;
    // Repeats if the run lost its lease to another run.
    while (!(await traced(span, () => syncOnce(context, { full, onlyIfDue }))));
    await readChangelogs(database, context.hub, context.isStopped).catch((error: unknown) => {
      if (!stopped) log.info({ err: error }, 'reading changelogs failed; the next sync will retry');
    });
    await verify();
    report(requestId);
  });
  /** What is shown is not what is decided, so a failure waits for the next pass. */
  const verify = () =>
    storeVerdicts(database, () => stopped).catch((error: unknown) => {
      if (!stopped) log.info({ err: error }, 'verifying the templates of the mirror failed; will retry');
    });
  const due = async () => {
    const { hub, intervalSeconds } = await readHub();
    if (!hub) await resolveStale(database);
    await verify(); // the policy and the keys can have changed
    return hub && intervalSeconds > 0 ? secondsUntilDue(database, hub, intervalSeconds) : Number.POSITIVE_INFINITY;
  };
  let reporting = Promise.resolve();
  const report = (requestId?: string) => {
    reporting = reporting.then(async () => {
      const { hub } = await readHub();
      if (hub && !stopped) await reportDownloads(database, hub.forRequest(requestId));
    });
    reporting = reporting.catch((error: unknown) => {
      if (!stopped) log.info({ err: error }, 'reporting downloads failed; will retry');
    });
  };
  return {
    reportDownloads: report,
    importBundle: async (bytes, { force }) => {
      const { hub } = await readHub();
      const replace = (source: CatalogSource, ofApplications: ApplicationSource | undefined, owner: string) =>
        walk({ database, hub: { client: source }, ofApplications, owner, log }, { full: true });
      const isStopped = () => stopped;
      await importBundle({ database, hasHub: hub !== undefined, isStopped, timings, replace }, bytes, { force });
      await verify();
    },
    run: ({ full = false, requestId } = {}) => run({ full, requestId, scheduled: false }),
    start: () => {
      schedule = runOnSchedule({ due, work: () => run({ full: false, scheduled: true }), log, timings });
    },
    stop: async () => {
      stopped = true;
      await Promise.all([schedule?.stop(), idle(), reporting]);
    },
  };
}

const NO_HUB = 'No hub is configured: set HUB_URL and HUB_API_KEY, or PUT /api/v1/settings/hub.';

interface SyncContext {
  readonly database: Database;
  readonly hub: Hub;
  readonly intervalSeconds: number;
  readonly isStopped: () => boolean;
  readonly log: Log;
  readonly timings: CatalogTimings;
}

const runs = new Counter({
  name: 'catalog_sync_runs_total',
  help: 'Number of syncs that ended, by their outcome: success, or the kind of the failure',
  labelNames: ['outcome'] as const,
  registers: [processMetrics],
});

const pages = new Counter({
  name: 'catalog_sync_pages_total',
  help: 'Number of pages of the hub that were stored',
  registers: [processMetrics],
});

/**
 * Runs one sync, exclusively among all replicas. @returns false if another run took the lease
 * before the sync ended
 */
async function syncOnce(
  context: SyncContext,
  { full, onlyIfDue }: { readonly full: boolean; readonly onlyIfDue: boolean },
): Promise<boolean> {
  const { database, hub, intervalSeconds, isStopped, log, timings } = context;
  const lease = await takeLease(database, isStopped, timings);
  if (!lease) {
    if (onlyIfDue) return true;
    throw unavailable('The fleet is shutting down. Nothing was synced.');
  }
  try {
    if (onlyIfDue && (await secondsUntilDue(database, hub, intervalSeconds)) > 0) return true;
    await recordSource(database, hub, lease.owner);
    await walk({ database, hub, ofApplications: hub, owner: lease.owner, log }, { full });
    await scheduleNext(database, lease.owner, intervalSeconds === 0 ? null : withJitter(intervalSeconds));
    runs.inc({ outcome: 'success' });
    logEvents(log, await recordRecovery(database));
    return true;
  } catch (cause) {
    if (cause instanceof LeaseLost) return isStopped();
    // The database of the fleet is unavailable, which is not a failure of the hub.
    if (cause instanceof Problem) throw cause;
    throw await recordFailedSync(context, lease, cause);
  } finally {
    await lease.release();
  }
}

async function recordFailedSync(
  { database, intervalSeconds, isStopped, log }: SyncContext,
  { owner }: Lease,
  cause: unknown,
): Promise<Problem> {
  const failure = classifyFailure(cause);
  if (!isStopped()) {
    // While the fleet stops, calls are aborted. That is not a failure of the hub.
    runs.inc({ outcome: failure.kind });
    const { seconds, recorded } = await recordFailure(database, owner, failure);
    logEvents(log, recorded);
    await scheduleNext(database, owner, intervalSeconds === 0 ? null : seconds);
  }
  return new Problem('hub_unreachable', failure.reason, { cause });
}

/** Records the hub and key of this run. If they change, a sync is due immediately. */
const recordSource = ({ client }: Database, { source }: Hub, owner: string) =>
  client.$executeRaw`UPDATE catalog_sync SET source = ${source} WHERE lease_owner = ${owner}::uuid`;

/** The maximum number of templates and removals in a page. */
const PAGE_LIMIT = 250;
const START = 'start';

interface SyncRun {
  readonly database: Database;
  readonly hub: { readonly client: CatalogSource };
  /** Undefined for a bundle without applications, which keeps those of the mirror. */
  readonly ofApplications: ApplicationSource | undefined;
  /** The owner of the lease. */
  readonly owner: string;
  readonly log: Log;
}

/**
 * Updates the mirror page by page, from the position of the last run. Applied pages remain applied
 * if a later call fails.
 * @throws CallError, LeaseLost, EmptyCatalog
 */
async function walk(run: SyncRun, { full }: { readonly full: boolean }): Promise<void> {
  await storeOrganization(run, (await run.hub.client.getOwnOrganization()).organization);
  const progress = await readProgress(run);
  const startsFullWalk = full || progress.full_walk_due || progress.cursor_reader !== cursorReaderOf(progress.cursor);
  let cursor = startsFullWalk ? START : (progress.cursor ?? START);
  let inFullWalk = progress.in_full_walk;
  let counts: SyncCounts = { updated: 0, removed: 0 };
  for (let hasMore = true; hasMore; ) {
    const page = await fetchPage(run, cursor);
    inFullWalk ||= page.reset;
    const isChanged = inFullWalk || page.checked_at !== progress.checked_at?.toISOString();
    const isDue = !page.has_more && (isChanged || progress.has_skipped_categories);
    const categories = isDue ? await fetchCategories(run) : undefined;
    const applied = await applyPage(run.database, run.owner, { response: { page, categories }, counts });
    counts = applied.counts;
    logEvents(run.log, applied.recorded);
    pages.inc();
    cursor = page.cursor;
    hasMore = page.has_more;
  }
  await repeatPages(run, progress.started_at);
  await fetchKeyrings(run);
  const { database, owner, ofApplications } = run;
  if (!ofApplications) return;
  const walked = { full: startsFullWalk || inFullWalk };
  logEvents(run.log, await syncApplications({ database, owner, hub: ofApplications }, walked));
}

/**
 * Fetches the pages with skipped templates again. The hub reports only changed templates, and its
 * response can become readable without a change. A page that cannot be fetched does not fail the
 * sync, because its templates are recorded.
 */
async function repeatPages(run: SyncRun, since: Date): Promise<void> {
  const { database, owner } = run;
  for (const cursor of await pagesToRepeat(database.client, since)) {
    const page = await requestPage(run, cursor).catch((error: unknown) => {
      if (error instanceof CallError) return error;
      throw error;
    });
    if (!(page instanceof CallError)) await applyRepeatedPage(database, owner, { cursor, page });
    else if (isBadRequest(page)) await applyRepeatedPage(database, owner, { cursor, page: undefined });
    else await markRepeated(database.client, cursor);
  }
}

async function requestPage({ hub }: SyncRun, cursor: string): Promise<TemplatePage> {
  return readPage(await hub.client.listTemplateUpdates({ query: { cursor, limit: PAGE_LIMIT } }), cursor);
}

/**
 * Fetches the categories. It is called after the last page was received, so that they are never
 * older than the templates.
 */
const fetchCategories = async ({ hub }: SyncRun): Promise<Entries<Category>> =>
  readCategories((await hub.client.listCategories()).categories);

/**
 * Fetches a page. If the hub rejects the cursor, it is deleted: the mirror remains, and the next
 * walk is a full walk.
 */
async function fetchPage(run: SyncRun, cursor: string): Promise<TemplatePage> {
  const { database, owner } = run;
  try {
    const page = await requestPage(run, cursor);
    // A cursor that does not advance would lead to an endless loop.
    if (page.has_more && page.cursor === cursor) throw new CallError('updates', { kind: 'unreadable', status: 200 });
    return page;
  } catch (error) {
    if (cursor !== START && error instanceof CallError && isBadRequest(error)) {
      await database.client.$executeRaw`UPDATE catalog_sync SET cursor = NULL WHERE lease_owner = ${owner}::uuid`;
    }
    throw error;
  }
}

const isBadRequest = ({ failure }: CallError) => failure.kind === 'refused' && failure.status === 400;

/**
 * Stores the organization at each sync, even if no template changed, because its tier decides what
 * can be deployed.
 */
const storeOrganization = ({ database, owner }: SyncRun, organization: Organization | null) =>
  database.client.$executeRaw`
      UPDATE catalog_sync SET organization = ${JSON.stringify(organization)}::jsonb WHERE lease_owner = ${owner}::uuid`;

interface SyncProgress {
  readonly cursor: string | null;
  readonly checked_at: Date | null;
  readonly in_full_walk: boolean;
  readonly cursor_reader: string | null;
  readonly full_walk_due: boolean;
  readonly has_skipped_categories: boolean;
  /** By the clock of the database. */
  readonly started_at: Date;
}

async function readProgress({ database }: SyncRun): Promise<SyncProgress> {
  const select = Prisma.sql`
    SELECT cursor, checked_at, in_full_walk, cursor_reader, full_walk_due, now() AS started_at,
           EXISTS (SELECT FROM catalog_skipped WHERE kind = 'category') AS has_skipped_categories
    FROM catalog_sync`;
  const [row] = await database.client.$queryRaw<SyncProgress[]>(select);
  if (!row) throw new Error('catalog_sync has no row');
  return row;
}

import { type Log, Problem, type Rounds, unavailable } from '@svc/http';
import type { Database } from '../database/client.ts';
import { tellUses } from './download-reports.ts';
import type { Hub } from './hub.ts';
import { LeaseLost } from './mirror.ts';
import { dueIn, type Lease, onSchedule, takeLease } from './schedule.ts';
import { failureOf, planNext, recordFailure, spread } from './sync-failures.ts';
import { type CatalogTimings, DEFAULT_TIMINGS } from './timings.ts';
import { walk } from './walk.ts';

/** Work that never overlaps itself, done for everybody who wished it before it began. */
interface OneAtATime<Wish> {
  /** Does the work. Called while it runs, it waits for a run that starts afterwards, together with all who wait. */
  run(wish: Wish): Promise<void>;
  /** Resolves when nothing runs and nobody waits. */
  idle(): Promise<void>;
}

function oneAtATime<Wish>(work: (wishes: readonly Wish[]) => Promise<void>): OneAtATime<Wish> {
  let running: Promise<void> | undefined;
  let next: { readonly wishes: Wish[]; readonly done: Promise<void> } | undefined;
  const start = (wishes: readonly Wish[]): Promise<void> => {
    running = work(wishes).finally(() => {
      running = undefined;
    });
    return running;
  };
  return {
    run: (wish) => {
      if (next) {
        next.wishes.push(wish);
        return next.done;
      }
      if (!running) return start([wish]);
      const wishes = [wish];
      const done = running
        .catch(() => undefined) // those who asked for it hear of it
        .then(() => {
          next = undefined;
          return start(wishes);
        });
      next = { wishes, done };
      return done;
    },
    idle: async () => {
      while (running) await (next?.done ?? running).catch(() => undefined);
    },
  };
}

/** Keeps the mirror in step with the hub. */
export interface Sync {
  /**
   * Fetches what changed, or everything. Called while a fetch runs, here or on another replica, it waits for one that
   * starts afterwards, together with all who wait.
   * @throws hub_not_configured; hub_unreachable with the reason, which the state keeps too; unavailable
   */
  run(wish?: { readonly full?: boolean }): Promise<void>;
  /** Asks the hub soon for templates that were deployed here for the first time; what fails, a later fetch asks for. */
  tellUses(): void;
  /** Fetches now and whenever it is due, once for all replicas, until stopped. */
  start(): void;
  /** No more fetches; resolves when the last one is over. */
  stop(): Promise<void>;
}

interface Wish {
  readonly full: boolean;
  /** Only if it is still due. */
  readonly scheduled: boolean;
}

/** The hub, and how often it is asked (0: only on demand), as they are configured now. */
interface HubNow {
  readonly hub: Hub | undefined;
  readonly intervalSeconds: number;
}

export interface SyncOptions {
  readonly database: Database;
  /** Asked each time: a change counts without a restart. */
  readonly hubNow: () => Promise<HubNow>;
  readonly log: Log;
  readonly timings?: CatalogTimings | undefined;
}

export function createSync({ database, hubNow, log, timings = DEFAULT_TIMINGS }: SyncOptions): Sync {
  let stopped = false;
  let schedule: Rounds | undefined;
  const { run, idle } = oneAtATime<Wish>(async (wishes) => {
    const { hub, intervalSeconds } = await hubNow();
    if (!hub) throw new Problem('hub_not_configured', NO_HUB);
    const full = wishes.some((wish) => wish.full);
    const onlyIfDue = wishes.every((wish) => wish.scheduled);
    const syncing = { database, hub, intervalSeconds, isStopped: () => stopped, timings };
    while (!(await syncOnce(syncing, { full, onlyIfDue }))); // the lease was lost: another run has it, so once more after it
    tell();
  });
  const due = async () => {
    const { hub, intervalSeconds } = await hubNow();
    return hub && intervalSeconds > 0 ? dueIn(database, hub, intervalSeconds) : Number.POSITIVE_INFINITY;
  };
  let telling = Promise.resolve();
  const tell = () => {
    telling = telling.then(async () => {
      const { hub } = await hubNow();
      if (hub && !stopped) await tellUses(database, hub);
    });
    telling = telling.catch((error: unknown) => {
      if (!stopped) log.info({ err: error }, 'the hub could not be asked for a deployed template; asked again later');
    });
  };
  return {
    tellUses: tell,
    run: ({ full = false } = {}) => run({ full, scheduled: false }),
    start: () => {
      schedule = onSchedule({ due, work: () => run({ full: false, scheduled: true }), log, timings });
    },
    stop: async () => {
      stopped = true;
      await Promise.all([schedule?.stop(), idle(), telling]);
    },
  };
}

const NO_HUB = 'No hub is configured: set HUB_URL and HUB_API_KEY, or PUT /api/v1/settings/hub.';

interface Syncing {
  readonly database: Database;
  readonly hub: Hub;
  readonly intervalSeconds: number;
  readonly isStopped: () => boolean;
  readonly timings: CatalogTimings;
}

/** One run, alone among all replicas. @returns false when another run took over in its middle */
async function syncOnce(
  syncing: Syncing,
  { full, onlyIfDue }: { readonly full: boolean; readonly onlyIfDue: boolean },
): Promise<boolean> {
  const { database, hub, intervalSeconds, isStopped, timings } = syncing;
  const lease = await takeLease(database, isStopped, timings);
  if (!lease) {
    if (onlyIfDue) return true;
    throw unavailable('The fleet is stopping: nothing was synced.');
  }
  try {
    if (onlyIfDue && (await dueIn(database, hub, intervalSeconds)) > 0) return true;
    await noteSource(database, hub, lease.owner);
    await walk({ database, hub, owner: lease.owner }, { full });
    await planNext(database, lease.owner, intervalSeconds === 0 ? null : spread(intervalSeconds));
    return true;
  } catch (cause) {
    if (cause instanceof LeaseLost) return isStopped();
    if (cause instanceof Problem) throw cause; // the fleet's own database is away: that says nothing of the hub
    throw await failed(syncing, lease, cause);
  } finally {
    await lease.release();
  }
}

async function failed(
  { database, intervalSeconds, isStopped }: Syncing,
  { owner }: Lease,
  cause: unknown,
): Promise<Problem> {
  const failure = failureOf(cause);
  if (!isStopped()) {
    // A call that we broke off would say nothing of the hub.
    const seconds = await recordFailure(database, owner, failure);
    await planNext(database, owner, intervalSeconds === 0 ? null : seconds);
  }
  return new Problem('hub_unreachable', failure.reason, { cause });
}

/** Whom this run asks: a change of it makes a sync due at once. */
const noteSource = ({ client }: Database, { source }: Hub, owner: string) =>
  client.$executeRaw`UPDATE catalog_sync SET source = ${source} WHERE lease_owner = ${owner}::uuid`;

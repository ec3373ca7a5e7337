import { type Log, Problem } from '@svc/http';
import type { Database } from '../database/client.ts';
import { translated } from '../database/translated.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { type Hub, reasonOf } from './hub.ts';
import { applyChanges } from './mirror.ts';
import { oneAtATime } from './one-at-a-time.ts';

/** Keeps the mirror in step with the hub. */
export interface Sync {
  readonly hub: Hub | undefined;
  /** Fetches what changed. Called while a fetch runs, it waits for one that starts afterwards, together with all who wait. */
  run(): Promise<void>;
  /** Fetches now and then every so many seconds, until stopped. 0: only on demand. */
  schedule(seconds: number): void;
  /** No more fetches; resolves when the last one is over. */
  stop(): Promise<void>;
}

const BEGINNING = new Date(0);
const APPLY_TIMEOUT_MS = 60_000;

export interface SyncOptions {
  readonly database: Database;
  readonly hub: Hub | undefined;
  readonly log: Log;
}

export function createSync({ database, hub, log }: SyncOptions): Sync {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const { run, idle } = oneAtATime(() => syncOnce({ database, hub, isStopped: () => stopped }));

  const tick = (seconds: number) => {
    run()
      .catch((error: unknown) => log.warn({ err: error }, 'the catalog could not be synced'))
      .finally(() => {
        if (!stopped) timer = setTimeout(() => tick(seconds), seconds * 1000 * (0.9 + Math.random() * 0.2));
      });
  };
  return {
    hub,
    run,
    schedule: (seconds) => {
      if (hub && seconds > 0) timer = setTimeout(() => tick(seconds), 0);
    },
    stop: () => {
      stopped = true;
      clearTimeout(timer);
      return idle();
    },
  };
}

interface Syncing {
  readonly database: Database;
  readonly hub: Hub | undefined;
  readonly isStopped: () => boolean;
}

/** @throws hub_not_configured; hub_unreachable with the reason, which the state keeps too; unavailable */
async function syncOnce({ database, hub, isStopped }: Syncing): Promise<void> {
  if (!hub) throw new Problem('hub_not_configured', 'No hub is configured: set HUB_URL and HUB_API_KEY.');
  try {
    while (!(await fetchAndApply(database, hub))); // another replica was here in the meantime: once more, from where it is
  } catch (cause) {
    if (cause instanceof Problem) throw cause; // the fleet's own database is away: that says nothing of the hub
    const reason = reasonOf(cause);
    if (!isStopped()) await recordFailure(database, reason); // a fetch that we broke off says nothing of it either
    throw new Problem('hub_unreachable', reason, { cause });
  }
}

const recordFailure = ({ client }: Database, reason: string) =>
  translated(
    () => client.$executeRaw`
      UPDATE catalog_sync SET last_failure_at = now(), failure_reason = ${reason}, stale_since = coalesce(stale_since, now())`,
  );

/** @returns false when the mirror changed while the hub was asked, so that its answer does not fit any more */
async function fetchAndApply({ client }: Database, hub: Hub): Promise<boolean> {
  const before = await translated(() => client.catalogSync.findUniqueOrThrow({ where: { id: 1 } }));
  const since = before.source === hub.source ? before.checked_at : null;
  const query = { since: (since ?? BEGINNING).toISOString() };
  const { checked_at, ...changes } = await hub.client.listTemplateUpdates({ query });
  const full = since === null;
  const apply = async (transaction: Prisma.TransactionClient) => {
    const [now] = await transaction.$queryRaw<Position[]>`SELECT source, checked_at FROM catalog_sync FOR UPDATE`;
    if (now?.source !== before.source || now?.checked_at?.getTime() !== before.checked_at?.getTime()) return false;
    const dropped = await applyChanges(transaction, { ...changes, full });
    await transaction.$executeRaw`
      UPDATE catalog_sync SET source = ${hub.source}, checked_at = ${new Date(checked_at)}, last_success_at = now(),
        last_full = ${full}, last_updated = ${changes.templates.length}, last_removed = ${dropped},
        stale_since = NULL, last_failure_at = NULL, failure_reason = NULL`;
    return true;
  };
  return translated(() => client.$transaction(apply, { timeout: APPLY_TIMEOUT_MS }));
}

/** Where a mirror stands: whose it is, and up to when it is complete. */
interface Position {
  readonly source: string | null;
  readonly checked_at: Date | null;
}

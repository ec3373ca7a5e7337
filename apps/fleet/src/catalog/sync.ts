import type { Log } from '@svc/http';
import { Problem } from '@svc/http';
import type { Database } from '../database/client.ts';
import { type Hub, reasonOf } from './hub.ts';
import { applyChanges } from './mirror.ts';

/** Keeps the mirror in step with the hub. */
export interface Sync {
  readonly hub: Hub | undefined;
  /** Fetches what changed. Called while a fetch runs, it waits for one that starts afterwards, together with all who wait. */
  run(): Promise<void>;
  /** Fetches now and then every so many seconds, until stopped. 0: only on demand. */
  schedule(seconds: number): void;
  stop(): Promise<void>;
}

const BEGINNING = new Date(0);

export interface SyncOptions {
  readonly database: Database;
  readonly hub: Hub | undefined;
  readonly log: Log;
}

export function createSync({ database, hub, log }: SyncOptions): Sync {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  const start = (): Promise<void> => {
    running = syncOnce(database, hub).finally(() => {
      running = undefined;
    });
    return running;
  };
  const run = (): Promise<void> => {
    if (!running) return start();
    next ??= running
      .catch(() => undefined) // those who asked for it hear of it
      .then(() => {
        next = undefined;
        return start();
      });
    return next;
  };
  const tick = (seconds: number) => {
    run()
      .catch((error: unknown) => log.warn({ err: error }, 'the catalog could not be synced'))
      .finally(() => {
        if (timer) timer = setTimeout(() => tick(seconds), seconds * 1000 * (0.9 + Math.random() * 0.2));
      });
  };
  return {
    hub,
    run,
    schedule: (seconds) => {
      if (hub && seconds > 0) timer = setTimeout(() => tick(seconds), 0);
    },
    stop: async () => {
      clearTimeout(timer);
      timer = undefined;
      await (next ?? running)?.catch(() => undefined);
    },
  };
}

/** @throws hub_not_configured, hub_unreachable with the reason, which the state keeps too */
async function syncOnce(database: Database, hub: Hub | undefined): Promise<void> {
  if (!hub) throw new Problem('hub_not_configured', 'No hub is configured: set HUB_URL and HUB_API_KEY.');
  try {
    await fetchAndApply(database, hub);
  } catch (cause) {
    const reason = reasonOf(cause);
    await database.client.$executeRaw`
      UPDATE catalog_sync SET last_failure_at = now(), failure_reason = ${reason}, stale_since = coalesce(stale_since, now())`;
    throw new Problem('hub_unreachable', reason, { cause });
  }
}

async function fetchAndApply({ client }: Database, hub: Hub): Promise<void> {
  const before = await client.catalogSync.findUniqueOrThrow({ where: { id: 1 } });
  const since = before.source === hub.source ? before.checked_at : null;
  const query = { since: (since ?? BEGINNING).toISOString() };
  const { templates, removed, checked_at } = await hub.client.listTemplateUpdates({ query });
  const full = since === null;
  await client.$transaction(
    async (transaction) => {
      const [now] = await transaction.$queryRaw<{ source: string | null; checked_at: Date | null }[]>`
        SELECT source, checked_at FROM catalog_sync FOR UPDATE`;
      // Another replica was here in the meantime: what it stored is at least as new as this answer's beginning.
      if (now?.source !== before.source || now?.checked_at?.getTime() !== before.checked_at?.getTime()) return;
      const dropped = await applyChanges(transaction, { templates, removed }, full);
      await transaction.$executeRaw`
        UPDATE catalog_sync SET source = ${hub.source}, checked_at = ${new Date(checked_at)}, last_success_at = now(),
          last_full = ${full}, last_updated = ${templates.length}, last_removed = ${dropped},
          stale_since = NULL, last_failure_at = NULL, failure_reason = NULL`;
    },
    { timeout: 60_000 },
  );
}

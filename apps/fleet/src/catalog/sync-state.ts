import type { syncState } from '@svc/contract/fleet';
import type { z } from 'zod';
import type { Database } from '../database/client.ts';

type State = z.input<typeof syncState>;

interface Row {
  readonly checked_at: Date | null;
  readonly last_success_at: Date | null;
  readonly age_seconds: number | null;
  readonly last_full: boolean;
  readonly last_updated: number;
  readonly last_removed: number;
  readonly stale_since: Date | null;
  readonly last_failure_at: Date | null;
  readonly failure_reason: string | null;
  readonly next_at: Date | null;
  readonly templates: number;
  readonly categories: number;
  readonly organization: State['organization'];
}

/** How the mirror stands to the hub. */
export async function readSyncState({ client }: Database, hubUrl: string | undefined): Promise<State> {
  const [row] = await client.$queryRaw<Row[]>`
      SELECT checked_at, last_success_at, extract(epoch FROM now() - last_success_at)::int AS age_seconds,
             last_full, last_updated, last_removed, stale_since, last_failure_at, failure_reason, next_at, organization,
             (SELECT count(*)::int FROM catalog_templates) AS templates,
             (SELECT count(*)::int FROM catalog_categories) AS categories
      FROM catalog_sync`;
  if (!row) throw new Error('catalog_sync has no row');
  const { last_failure_at, failure_reason } = row;
  return {
    status: statusOf(row, hubUrl),
    hub_url: hubUrl ?? null,
    checked_at: row.checked_at,
    last_success_at: row.last_success_at,
    age_seconds: row.age_seconds,
    stale_since: row.stale_since,
    last_failure: last_failure_at && failure_reason !== null ? { at: last_failure_at, reason: failure_reason } : null,
    next_try_at: hubUrl === undefined ? null : row.next_at,
    last_sync: row.last_success_at && { full: row.last_full, updated: row.last_updated, removed: row.last_removed },
    counts: { templates: row.templates, categories: row.categories },
    organization: row.organization,
  };
}

function statusOf({ stale_since, last_success_at }: Row, hubUrl: string | undefined) {
  if (hubUrl === undefined) return 'not_configured';
  if (stale_since) return 'stale';
  return last_success_at ? 'fresh' : 'never_synced';
}

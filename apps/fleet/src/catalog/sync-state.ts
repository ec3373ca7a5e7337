import { CallError } from '@svc/contract';
import { MAX_SKIPPED_LISTED, severities, type syncState } from '@svc/contract/fleet';
import { type Metrics, observe, type Sample, sharedRead } from '@svc/http';
import type { z } from 'zod';
import type { Database } from '../database/client.ts';
import { CATALOG_ID, problemRecord, RECORDED, type RecordedEvent, recoveryRecord } from '../events/record.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { countsBySeverity } from './advisories.ts';
import { reasonOf } from './hub.ts';
import { EmptyCatalog } from './mirror.ts';

/** The `source` of a mirror that comes from a bundle. Those of hubs are hashes. */
export const BUNDLE_SOURCE = 'bundle';

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
  readonly from_bundle: boolean;
  readonly templates: number;
  readonly categories: number;
  readonly applications: number;
  readonly organization: State['organization'];
  readonly skipped_total: number;
  readonly skipped_entries: State['skipped']['entries'];
}

/** The state of the mirror and its last syncs. */
export async function readSyncState({ client }: Database, hubUrl: string | undefined): Promise<State> {
  const [row] = await client.$queryRaw<Row[]>`
      SELECT checked_at, last_success_at, extract(epoch FROM now() - last_success_at)::int AS age_seconds,
             last_full, last_updated, last_removed, stale_since, last_failure_at, failure_reason, next_at, organization,
             source IS NOT DISTINCT FROM ${BUNDLE_SOURCE} AS from_bundle,
             (SELECT count(*)::int FROM catalog_templates) AS templates,
             (SELECT count(*)::int FROM catalog_categories) AS categories,
             (SELECT count(*)::int FROM catalog_applications) AS applications,
             (SELECT count(*)::int FROM catalog_skipped) + (SELECT sum(skipped_total)::int FROM catalog_cursors) AS skipped_total,
             (SELECT coalesce(json_agg(s ORDER BY s.kind DESC, s.slug, s.id), '[]') FROM (
                SELECT kind, entry_id AS id, slug, reason FROM catalog_skipped
                UNION ALL
                SELECT c.kind, e.id, e.slug, e.reason FROM catalog_cursors c,
                  jsonb_to_recordset(c.skipped) AS e (id uuid, slug text, reason text)
                ORDER BY kind DESC, slug, id LIMIT ${MAX_SKIPPED_LISTED}) s) AS skipped_entries
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
    counts: { templates: row.templates, categories: row.categories, applications: row.applications },
    skipped: { total: row.skipped_total, entries: row.skipped_entries },
    from_bundle: row.from_bundle,
    organization: row.organization,
  };
}

function statusOf({ stale_since, last_success_at }: Row, hubUrl: string | undefined) {
  if (hubUrl === undefined) return 'not_configured';
  if (stale_since) return 'stale';
  return last_success_at ? 'fresh' : 'never_synced';
}

interface Figures {
  readonly templates: number;
  readonly skipped_templates: number;
  readonly skipped_categories: number;
  readonly age: number | null;
  readonly success: number | null;
  readonly failure: number | null;
  readonly failure_kind: string | null;
  readonly failures: number;
  readonly stale: number;
  /** The numbers of deployments with advisories, by the rank of the highest severity, from 1. */
  readonly advised: Readonly<Record<string, number>>;
  readonly untrusted: readonly { readonly reason: string; readonly used: boolean; readonly count: number }[];
  /** When the keyrings of publishers expire, in seconds since 1970; none if nothing is verified. */
  readonly keyrings: readonly { readonly publisher: string; readonly at: number }[];
}

/**
 * Registers the metrics of the mirror. They are read from the database at each scrape, so that all
 * replicas report the same values.
 */
export const observeSync =
  (database: Database) =>
  (metrics: Metrics): void => {
    const read = sharedRead(SCRAPE_MS, () => readFigures(database));
    const samples = (of: (figures: Figures) => readonly Sample[]) => async () => {
      const figures = await read();
      return figures && of(figures);
    };
    const gauge = (name: string, help: string, figure: (figures: Figures) => number | null) =>
      observe(
        metrics,
        { name, help },
        samples((figures) => {
          const value = figure(figures);
          return value === null ? [] : [{ value }];
        }),
      );
    gauge('catalog_mirror_templates', 'Templates in the mirror', ({ templates }) => templates);
    observe(
      metrics,
      {
        name: 'catalog_sync_skipped',
        help: 'Templates and categories of the hub that the fleet cannot read, by kind: template, category',
        labelNames: ['kind'],
      },
      samples(({ skipped_templates, skipped_categories }) => [
        { value: skipped_templates, labels: { kind: 'template' } },
        { value: skipped_categories, labels: { kind: 'category' } },
      ]),
    );
    observe(
      metrics,
      {
        name: 'deployments_with_advisories',
        help: 'Deployments with advisories that nobody has acknowledged, by the highest severity: note, warning, critical',
        labelNames: ['severity'],
      },
      samples(({ advised }) =>
        severities.map((severity, index) => ({ value: advised[index + 1] ?? 0, labels: { severity } })),
      ),
    );
    observe(
      metrics,
      {
        name: 'catalog_untrusted_templates',
        help: 'Templates of the mirror that are not trusted, by reason, and by whether deployments run them: yes, no',
        labelNames: ['reason', 'used'],
      },
      samples(({ untrusted }) =>
        untrusted.map(({ reason, used, count }) => ({ value: count, labels: { reason, used: used ? 'yes' : 'no' } })),
      ),
    );
    observe(
      metrics,
      {
        name: 'trust_keyring_expiry_timestamp_seconds',
        help: 'When the keyring of a publisher expires, while the fleet verifies signatures',
        labelNames: ['publisher'],
      },
      samples(({ keyrings }) => keyrings.map(({ publisher, at }) => ({ value: at, labels: { publisher } }))),
    );
    gauge('catalog_sync_age_seconds', 'Seconds since the last successful sync', ({ age }) => age);
    gauge('catalog_sync_last_success_timestamp_seconds', 'Time of the last successful sync', ({ success }) => success);
    gauge('catalog_sync_failures', 'Failed syncs since the last successful sync', ({ failures }) => failures);
    gauge('catalog_sync_stale', '1 if the last sync failed, else 0', ({ stale }) => stale);
    observe(
      metrics,
      {
        name: 'catalog_sync_last_failure_timestamp_seconds',
        help: `Time of the last failed sync, by kind: ${failureKinds.join(', ')}`,
        labelNames: ['kind'],
      },
      samples(({ failure, failure_kind }) =>
        failure && failure_kind ? [{ value: failure, labels: { kind: failure_kind } }] : [],
      ),
    );
  };

/** The figures are read at most once in this time, whatever the number of scrapes. */
const SCRAPE_MS = 2000;

async function readFigures({ client }: Database): Promise<Figures | undefined> {
  const [figures] = await client.$queryRaw<Figures[]>`
    SELECT (SELECT count(*)::int FROM catalog_templates) AS templates,
           (SELECT count(*)::int FROM catalog_skipped WHERE kind = 'template') AS skipped_templates,
           (SELECT count(*)::int FROM catalog_skipped WHERE kind = 'category') AS skipped_categories,
           extract(epoch FROM now() - last_success_at)::float8 AS age,
           extract(epoch FROM last_success_at)::float8 AS success,
           extract(epoch FROM last_failure_at)::float8 AS failure,
           failure_kind, failures, (stale_since IS NOT NULL)::int AS stale, ${countsBySeverity} AS advised,
           (SELECT coalesce(json_agg(u), '[]') FROM (
              SELECT trust->>'reason' AS reason, count(*)::int AS count, id IN (
                SELECT v.template_id FROM deployments d
                JOIN workload_revisions v ON v.workload_id = d.workload_id AND v.revision = d.revision
                WHERE NOT d.deleting) AS used
              FROM catalog_templates WHERE trust->>'state' = 'untrusted' GROUP BY reason, used) u) AS untrusted,
           (SELECT coalesce(json_agg(k), '[]') FROM (
              SELECT slug AS publisher, extract(epoch FROM coalesce(extended_until, expires_at))::float8 AS at FROM trust_publishers
              WHERE expires_at IS NOT NULL AND EXISTS (SELECT FROM trust_policy WHERE policy->>'mode' <> 'off')) k) AS keyrings
    FROM catalog_sync`;
  return figures;
}

const FIRST_SECONDS = 5;
const MAX_SECONDS = 900;
const MAX_RETRY_AFTER_SECONDS = 86_400;

/**
 * Seconds until the next attempt after consecutive failures: exponential backoff, with jitter from
 * 50 to 100 percent.
 */
export const backoff = (failures: number, random: () => number = Math.random): number =>
  Math.min(MAX_SECONDS, FIRST_SECONDS * 2 ** (failures - 1)) * (0.5 + random() / 2);

/**
 * Seconds between two successful syncs, with jitter so that fleets do not sync at the same time.
 */
export const withJitter = (seconds: number, random: () => number = Math.random): number =>
  seconds * (0.9 + random() * 0.2);

/**
 * The seconds of a `Retry-After` header, which is a number or a date (RFC 9110, section 10.2.3); at
 * most one day.
 */
export function retryAfter(header: string | undefined, now = Date.now()): number {
  if (header === undefined) return 0;
  const seconds = /^\d+$/.test(header.trim()) ? Number(header) : (Date.parse(header) - now) / 1000;
  return Number.isNaN(seconds) ? 0 : Math.min(MAX_RETRY_AFTER_SECONDS, Math.max(0, seconds));
}

/** The kinds of failures of a sync. They are label values of a metric. */
const failureKinds = ['unreachable', 'refused', 'unreadable', 'empty', 'not_stored'] as const;
type FailureKind = (typeof failureKinds)[number];

export interface Failure {
  readonly kind: FailureKind;
  /** The reason as text for users. */
  readonly reason: string;
  /** The seconds of the `Retry-After` header of the hub; 0 without one. */
  readonly retryAfter: number;
}

export function classifyFailure(error: unknown): Failure {
  if (error instanceof EmptyCatalog) {
    const reason =
      'The hub returned an empty catalog. The mirror is kept until a second full sync confirms that the catalog is empty.';
    return { kind: 'empty', reason, retryAfter: 0 };
  }
  const reason = reasonOf(error);
  if (!(error instanceof CallError)) return { kind: 'not_stored', reason, retryAfter: 0 };
  const { failure } = error;
  return {
    kind: failure.kind,
    reason,
    retryAfter: retryAfter('retryAfter' in failure ? failure.retryAfter : undefined),
  };
}

/**
 * Records the failure of a run, and the time of the first consecutive failure.
 * @returns the seconds until the next attempt, and the recorded events
 */
export async function recordFailure({ client }: Database, owner: string, failure: Failure) {
  const { kind, reason } = failure;
  const [row] = await client.$queryRaw<[{ failures: number | null; recorded: readonly RecordedEvent[] }]>`
    WITH updated AS (
      UPDATE catalog_sync SET last_failure_at = now(), failure_kind = ${kind}, failure_reason = ${reason},
        stale_since = coalesce(stale_since, now()), failures = failures + 1
      WHERE lease_owner = ${owner}::uuid RETURNING ${THE_CATALOG}, failures),
    ${problemRecord({ kind: 'catalog', reason: 'MirrorStale', message: reason })}
    SELECT (SELECT failures FROM updated) AS failures, ${RECORDED} AS recorded`;
  return { seconds: Math.max(backoff(row.failures ?? 1), failure.retryAfter), recorded: row.recorded };
}

/** The mirror as the object of an event. */
const THE_CATALOG = Prisma.sql`${CATALOG_ID}::uuid AS id, 'catalog' AS name`;

/** Records that the mirror is no longer stale, if it was. @returns the recorded events */
export async function recordRecovery({ client }: Database): Promise<readonly RecordedEvent[]> {
  const [row] = await client.$queryRaw<[{ recorded: readonly RecordedEvent[] }]>`
    WITH updated AS (SELECT ${THE_CATALOG} FROM catalog_sync WHERE stale_since IS NULL),
    ${recoveryRecord('catalog')}
    SELECT ${RECORDED} AS recorded`;
  return row.recorded;
}

/**
 * Resolves the warning about the mirror without a recovery: a mirror without a hub is not stale.
 */
export const resolveStale = ({ client }: Database): Promise<number> =>
  client.$executeRaw`
      UPDATE events SET resolved_at = clock_timestamp()
      WHERE object_id = ${CATALOG_ID}::uuid AND severity = 'warning' AND resolved_at IS NULL`;

/** Schedules the next sync for all replicas; with null, syncs run only on demand. */
export const scheduleNext = (database: Database, owner: string, seconds: number | null): Promise<number> =>
  database.client.$executeRaw`
      UPDATE catalog_sync SET next_at = now() + make_interval(secs => ${seconds}::float8)
      WHERE lease_owner = ${owner}::uuid`;

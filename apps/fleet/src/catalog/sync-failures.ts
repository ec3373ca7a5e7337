import { CallError } from '@svc/contract';
import type { Database } from '../database/client.ts';
import { reasonOf } from './hub.ts';
import { EmptyCatalog } from './mirror.ts';

const FIRST_SECONDS = 5;
const MAX_SECONDS = 900;
const MAX_RETRY_AFTER_SECONDS = 86_400;

/**
 * Seconds until the next attempt after consecutive failures: exponential backoff, with jitter from 50 to 100 percent.
 */
export const backoff = (failures: number, random: () => number = Math.random): number =>
  Math.min(MAX_SECONDS, FIRST_SECONDS * 2 ** (failures - 1)) * (0.5 + random() / 2);

/** Seconds between two successful syncs, with jitter so that fleets do not sync at the same time. */
export const withJitter = (seconds: number, random: () => number = Math.random): number =>
  seconds * (0.9 + random() * 0.2);

/** The seconds of a `Retry-After` header, which is a number or a date (RFC 9110, section 10.2.3); at most one day. */
export function retryAfter(header: string | undefined, now = Date.now()): number {
  if (header === undefined) return 0;
  const seconds = /^\d+$/.test(header.trim()) ? Number(header) : (Date.parse(header) - now) / 1000;
  return Number.isNaN(seconds) ? 0 : Math.min(MAX_RETRY_AFTER_SECONDS, Math.max(0, seconds));
}

/** The kinds of failures of a sync. They are label values of a metric. */
export const failureKinds = ['unreachable', 'refused', 'unreadable', 'empty', 'not_stored'] as const;
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
 * @returns the seconds until the next attempt
 */
export async function recordFailure(database: Database, owner: string, failure: Failure): Promise<number> {
  const { kind, reason } = failure;
  const [row] = await database.client.$queryRaw<{ failures: number }[]>`
      UPDATE catalog_sync SET last_failure_at = now(), failure_kind = ${kind}, failure_reason = ${reason},
        stale_since = coalesce(stale_since, now()), failures = failures + 1
      WHERE lease_owner = ${owner}::uuid RETURNING failures`;
  return Math.max(backoff(row?.failures ?? 1), failure.retryAfter);
}

/** Schedules the next sync for all replicas; with null, syncs run only on demand. */
export const scheduleNext = (database: Database, owner: string, seconds: number | null): Promise<number> =>
  database.client.$executeRaw`
      UPDATE catalog_sync SET next_at = now() + make_interval(secs => ${seconds}::float8)
      WHERE lease_owner = ${owner}::uuid`;

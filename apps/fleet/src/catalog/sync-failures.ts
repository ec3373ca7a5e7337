import { CallError } from '@svc/contract';
import type { Database } from '../database/client.ts';
import { reasonOf } from './hub.ts';
import { FoundEmpty } from './mirror.ts';

const FIRST_SECONDS = 5;
const MOST_SECONDS = 900;
const MOST_ASKED_SECONDS = 86_400;

/** Seconds until the next try after so many failures in a row: exponential, with jitter between a half and the whole. */
export const backoff = (failures: number, random: () => number = Math.random): number =>
  Math.min(MOST_SECONDS, FIRST_SECONDS * 2 ** (failures - 1)) * (0.5 + random() / 2);

/** Seconds between two good syncs: never all fleets at once. */
export const spread = (seconds: number, random: () => number = Math.random): number => seconds * (0.9 + random() * 0.2);

/** Seconds that a `Retry-After` asks for, as a number or as a date (RFC 9110, section 10.2.3); a day at most. */
export function retryAfter(header: string | undefined, now = Date.now()): number {
  if (header === undefined) return 0;
  const seconds = /^\d+$/.test(header.trim()) ? Number(header) : (Date.parse(header) - now) / 1000;
  return Number.isNaN(seconds) ? 0 : Math.min(MOST_ASKED_SECONDS, Math.max(0, seconds));
}

/** Why a sync came to nothing: labels of a figure, so a closed set. */
export const failureKinds = ['unreachable', 'refused', 'unreadable', 'empty', 'not_stored'] as const;
type FailureKind = (typeof failureKinds)[number];

export interface Failure {
  readonly kind: FailureKind;
  /** For a person. */
  readonly reason: string;
  /** Seconds that the hub asked to be left alone. */
  readonly retryAfter: number;
}

export function failureOf(error: unknown): Failure {
  if (error instanceof FoundEmpty) {
    const reason =
      'The hub shows an empty catalog, all of a sudden. The mirror is kept until a second full sync says the same.';
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
 * Keeps why the last run came to nothing, and since when that is so.
 * @returns seconds after which to try again
 */
export async function recordFailure(database: Database, owner: string, failure: Failure): Promise<number> {
  const { kind, reason } = failure;
  const [row] = await database.client.$queryRaw<{ failures: number }[]>`
      UPDATE catalog_sync SET last_failure_at = now(), failure_kind = ${kind}, failure_reason = ${reason},
        stale_since = coalesce(stale_since, now()), failures = failures + 1
      WHERE lease_owner = ${owner}::uuid RETURNING failures`;
  return Math.max(backoff(row?.failures ?? 1), failure.retryAfter);
}

/** Keeps when the hub is asked next, for all replicas; null: when somebody wants it. */
export const planNext = (database: Database, owner: string, seconds: number | null): Promise<number> =>
  database.client.$executeRaw`
      UPDATE catalog_sync SET next_at = now() + make_interval(secs => ${seconds}::float8)
      WHERE lease_owner = ${owner}::uuid`;

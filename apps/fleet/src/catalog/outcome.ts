import { CallError } from '@svc/contract';
import type { Database } from '../database/client.ts';
import { FoundEmpty } from './apply.ts';
import { backoff, retryAfter } from './backoff.ts';
import { reasonOf } from './hub.ts';

/** Why a sync came to nothing: labels of a figure, so a closed set. */
export const failureKinds = ['unreachable', 'refused', 'unreadable', 'empty', 'not_stored'] as const;
export type FailureKind = (typeof failureKinds)[number];

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

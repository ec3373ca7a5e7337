import { unavailable } from '@svc/http';
import pLimit from 'p-limit';

export interface SemaphoreBounds {
  /** Calls that run at the same time. */
  readonly concurrent: number;
  /** Calls that wait for their turn. */
  readonly waiting: number;
}

/** Limits concurrency. Waiting calls run in order. @throws 503 unavailable if too many calls wait already */
export function createSemaphore({ concurrent, waiting }: SemaphoreBounds): <T>(work: () => Promise<T>) => Promise<T> {
  const limit = pLimit(concurrent);
  return async (work) => {
    if (limit.activeCount >= concurrent && limit.pendingCount >= waiting) {
      throw unavailable(`More than ${concurrent + waiting} sign-ins at this moment. Try again shortly.`);
    }
    return limit(work);
  };
}

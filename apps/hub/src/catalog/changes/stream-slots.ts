import { createPlaces, type Pace } from '@svc/http';
import { callerKey, type Principal, viewerOf } from '../../identity/principal.ts';

/** The limits of streamed responses per process. */
export interface StreamLimits {
  readonly total: number;
  /** The maximum number for an organization, a user, or an anonymous network. */
  readonly perCaller: number;
  /** The maximum number for all callers together who have the view of anonymous callers. */
  readonly anonymous: number;
  readonly pace: Pace;
}

const LIMITS: StreamLimits = {
  total: 8,
  perCaller: 2,
  anonymous: 4,
  pace: { durationMs: 60_000, bytesPerSecond: 256 * 1024, allowanceMs: 2000 },
};

export interface StreamSlots {
  readonly pace: Pace;
  /**
   * Takes a slot. @returns the function that releases it @throws 503 `overloaded` if the caller can
   * have no more
   */
  take(principal: Principal, address: string): () => void;
}

/** Callers with the view of anonymous callers need a place of theirs and one of all. */
export function createStreamSlots({ total, perCaller, anonymous, pace }: StreamLimits = LIMITS): StreamSlots {
  const what = 'large responses';
  const reserve = { places: 1, perCaller: 1 };
  const places = createPlaces({ what, total, perCaller, reserve });
  const ofAnonymous = createPlaces({ what: `${what} to anonymous callers`, total: anonymous, perCaller, reserve });
  return {
    pace,
    take(principal, address) {
      const caller = callerKey(principal, address);
      const releaseOfAnonymous = viewerOf(principal).kind === 'anonymous' ? ofAnonymous.take(caller) : () => undefined;
      try {
        const release = places.take(caller);
        return () => {
          release();
          releaseOfAnonymous();
        };
      } catch (error) {
        releaseOfAnonymous();
        throw error;
      }
    },
  };
}

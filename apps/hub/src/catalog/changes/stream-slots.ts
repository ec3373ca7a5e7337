import { overloaded, type Pace } from '@svc/http';
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

export function createStreamSlots({ total, perCaller, anonymous, pace }: StreamLimits = LIMITS): StreamSlots {
  const taken = new Set<Slot>();
  const count = (matches: (slot: Slot) => boolean) => [...taken].filter(matches).length;
  return {
    pace,
    take(principal, address) {
      const slot = { caller: callerKey(principal, address), isAnonymous: viewerOf(principal).kind === 'anonymous' };
      if (count(({ caller }) => caller === slot.caller) >= perCaller) {
        throw overloaded(`At most ${perCaller} large responses are sent to a caller at the same time.`);
      }
      if (taken.size >= total || (slot.isAnonymous && count(({ isAnonymous }) => isAnonymous) >= anonymous)) {
        throw overloaded('Too many large responses are being sent to other callers.');
      }
      taken.add(slot);
      return () => taken.delete(slot);
    },
  };
}

interface Slot {
  readonly caller: string;
  readonly isAnonymous: boolean;
}

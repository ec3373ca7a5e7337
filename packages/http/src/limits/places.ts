import type { Problem } from '../response/problem.ts';
import { overloaded } from '../response/respond.ts';

/** The limits of what callers hold for a long time, per process. */
export interface PlaceLimits {
  /** What holds a place, for messages: for example `streams of changes`. */
  readonly what: string;
  readonly total: number;
  readonly perCaller: number;
  /** The number of places that only callers with few can take, and how many each can have then. */
  readonly reserve: { readonly places: number; readonly perCaller: number };
  /** The problem of a caller who receives no place. Default: 503 `overloaded`. */
  readonly refuse?: (reason: string) => Problem;
}

export interface Places {
  /**
   * Takes a place for a caller. @returns a function that releases it. @throws the problem of the
   * limits if the caller receives none
   */
  take(caller: string): () => void;
}

/**
 * Shares places among callers. A caller receives a further place only while it has fewer than are
 * free beside the reserve. So one caller has at most half of these, and the share of each decreases
 * as more callers take places. The reserve is for callers who have few.
 */
export function createPlaces({ what, total, perCaller, reserve, refuse = overloaded }: PlaceLimits): Places {
  const taken = new Map<string, number>();
  let free = total;
  const change = (caller: string, by: number) => {
    free -= by;
    const own = (taken.get(caller) ?? 0) + by;
    if (own === 0) taken.delete(caller);
    else taken.set(caller, own);
  };
  return {
    take(caller) {
      const own = taken.get(caller) ?? 0;
      if (own >= perCaller) throw refuse(`A caller has at most ${perCaller} ${what} at the same time.`);
      if (free === 0) throw refuse(`A process has at most ${total} ${what} at the same time.`);
      if (own >= free - reserve.places && own >= reserve.perCaller) {
        throw refuse(
          `A process has at most ${total} ${what} at the same time, and the last ones are for other callers.`,
        );
      }
      change(caller, 1);
      let isReleased = false;
      return () => {
        if (!isReleased) change(caller, -1);
        isReleased = true;
      };
    },
  };
}

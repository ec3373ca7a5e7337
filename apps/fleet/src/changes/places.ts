import { overloaded } from '@svc/http';

/** The maximum number of streams and waiting requests of a process, and of one caller. */
const MAX_PLACES = 2000;
const MAX_OF_CALLER = 1000;

/** The places for streams of changes and for requests that wait. */
export interface Places {
  /**
   * Takes a place for a caller. @returns a function that releases it. @throws 503 `overloaded` if
   * none is free
   */
  take(caller: string): () => void;
}

export function createPlaces(maximum = MAX_PLACES, ofCaller = MAX_OF_CALLER): Places {
  const taken = new Map<string, number>();
  let all = 0;
  const change = (caller: string, by: number) => {
    all += by;
    const left = (taken.get(caller) ?? 0) + by;
    if (left === 0) taken.delete(caller);
    else taken.set(caller, left);
  };
  return {
    take: (caller) => {
      if (all >= maximum) throw full(`A process of the fleet has at most ${maximum}`);
      if ((taken.get(caller) ?? 0) >= ofCaller) throw full(`A caller has at most ${ofCaller} of a process`);
      change(caller, 1);
      let isReleased = false;
      return () => {
        if (!isReleased) change(caller, -1);
        isReleased = true;
      };
    },
  };
}

const full = (bound: string) => overloaded(`${bound} streams of changes and waiting requests.`);

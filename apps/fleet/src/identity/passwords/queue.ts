import { unavailable } from '@svc/http';

/**
 * Who causes a piece of work: a caller who signed in from the same network before, or who is signed
 * in, or anybody else.
 */
export type CallerClass = 'known' | 'unknown';

export interface QueueBounds {
  /** Calls that run at the same time. */
  readonly concurrent: number;
  /** Calls of each class that wait for their turn. */
  readonly waiting: Readonly<Record<CallerClass, number>>;
}

/**
 * Of this many calls that leave the queues, one is a call of an unknown caller if one is waiting.
 */
const UNKNOWN_SHARE = 4;

/**
 * Limits concurrency. Calls of known callers run first, except for the share of unknown callers.
 * Calls of one class run in order. No library: the maintained ones have priorities, but neither
 * shares nor a bound for each class.
 * @throws 503 unavailable if too many calls of the class are waiting
 */
export function createPasswordQueue({ concurrent, waiting }: QueueBounds) {
  const queues: Readonly<Record<CallerClass, (() => void)[]>> = { known: [], unknown: [] };
  let active = 0;
  let knownInSuccession = 0;

  const next = (): (() => void) | undefined => {
    const isTurnOfUnknown = knownInSuccession >= UNKNOWN_SHARE - 1 && queues.unknown.length > 0;
    const start = isTurnOfUnknown ? undefined : queues.known.shift();
    knownInSuccession = start ? knownInSuccession + 1 : 0;
    return start ?? queues.unknown.shift();
  };

  return async <T>(caller: CallerClass, work: () => Promise<T>): Promise<T> => {
    if (active < concurrent) active++;
    else if (queues[caller].length < waiting[caller]) await new Promise<void>((start) => queues[caller].push(start));
    else throw unavailable(`${waiting[caller]} sign-ins are waiting, which is the maximum. Try again shortly.`);
    try {
      return await work();
    } finally {
      const start = next();
      if (start)
        start(); // it takes over this slot
      else active--;
    }
  };
}

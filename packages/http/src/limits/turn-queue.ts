import { overloaded } from '../response/respond.ts';

/** The limits of a queue per process. */
export interface QueueLimits {
  /** What waits, for messages: for example `requests for changes`. */
  readonly what: string;
  /**
   * The number of runs at the same time. The other database connections are available to other
   * requests.
   */
  readonly running: number;
  /** The maximum number of requests of a caller that wait. */
  readonly waitingPerCaller: number;
  /** The maximum time that a request waits, in milliseconds. */
  readonly waitMs: number;
}

export interface TurnQueue {
  /**
   * Runs `work` when it is the turn of the caller.
   * @throws 503 `overloaded` if too many requests wait, or for too long
   */
  run<T>(caller: string, work: () => Promise<T>): Promise<T>;
}

/** Callers take turns, so that a caller with many requests delays another one by few of them. */
export function createTurnQueue({ what, running: maxRunning, waitingPerCaller, waitMs }: QueueLimits): TurnQueue {
  /** The requests that wait, by caller. The first caller is next. */
  const queues = new Map<string, Set<() => void>>();
  let running = 0;

  const startNext = () => {
    const [next] = queues;
    if (!next || running >= maxRunning) return;
    const [caller, waiting] = next;
    const [start] = waiting;
    queues.delete(caller);
    if (!start) return startNext(); // all requests of this caller gave up
    waiting.delete(start);
    if (waiting.size > 0) queues.set(caller, waiting); // after the other callers
    running += 1;
    start();
  };

  const turnOf = (caller: string) =>
    new Promise<void>((resolve, reject) => {
      const waiting = queues.get(caller) ?? new Set();
      if (waiting.size >= waitingPerCaller) {
        return reject(overloaded(`At most ${waitingPerCaller} ${what} of a caller wait at the same time.`));
      }
      const start = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        waiting.delete(start);
        reject(overloaded(`Too many ${what} wait.`));
      }, waitMs);
      queues.set(caller, waiting.add(start));
      startNext();
    });

  return {
    async run(caller, work) {
      await turnOf(caller);
      try {
        return await work();
      } finally {
        running -= 1;
        startNext();
      }
    },
  };
}

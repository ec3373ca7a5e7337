import { overloaded } from './stream-slots.ts';

/** The limits of reads of changes per process. */
export interface ReadLimits {
  /** The number of reads at the same time. The other database connections are available to other requests. */
  readonly running: number;
  /** The maximum number of requests of a caller that wait. */
  readonly waitingPerCaller: number;
  /** The maximum time that a request waits, in milliseconds. */
  readonly waitMs: number;
}

const LIMITS: ReadLimits = { running: 2, waitingPerCaller: 16, waitMs: 1500 };

export interface ReadQueue {
  /** Runs `read` when it is the turn of the caller. @throws 503 `overloaded` if too many requests wait, or for too long */
  run<T>(caller: string, read: () => Promise<T>): Promise<T>;
}

/** Callers take turns, so that a caller with many requests delays another one by few of them. */
export function createReadQueue({ running: maxRunning, waitingPerCaller, waitMs }: ReadLimits = LIMITS): ReadQueue {
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
        return reject(
          overloaded(`At most ${waitingPerCaller} requests of a caller for changes wait at the same time.`),
        );
      }
      const start = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        waiting.delete(start);
        reject(overloaded('Too many requests for changes wait.'));
      }, waitMs);
      queues.set(caller, waiting.add(start));
      startNext();
    });

  return {
    async run(caller, read) {
      await turnOf(caller);
      try {
        return await read();
      } finally {
        running -= 1;
        startNext();
      }
    },
  };
}

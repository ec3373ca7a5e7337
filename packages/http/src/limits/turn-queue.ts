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
  /**
   * The weight that a run stands for in a second, also if its work is done earlier: what it returns
   * must still be sent. Default: a run ends with its work.
   */
  readonly weightPerSecond?: number;
}

/**
 * The limits of large pages of lists. Each needs memory for its response, a database connection for
 * one of its parts at a time, and time until it is sent.
 */
export const LARGE_PAGES: QueueLimits = {
  what: 'requests for large pages',
  running: 2,
  waitingPerCaller: 8,
  waitMs: 30_000,
  weightPerSecond: 50 * 2 ** 20,
};

export interface TurnQueue {
  /**
   * Runs `work` when it is the turn of the caller. `weight` is the cost of the work relative to
   * other work in the queue, for example its bytes. Default: 1.
   * @throws 503 `overloaded` if too many requests wait, or for too long
   */
  run<T>(caller: string, work: () => Promise<T>, weight?: number): Promise<T>;
}

interface Waiting {
  readonly weight: number;
  readonly start: () => void;
}

/**
 * Callers take turns, so that a caller with many requests, or with heavy ones, delays another one by
 * few of them. The next turn is that of the caller who has received the least weight. A caller who
 * was idle has no claim to what others received meanwhile (start-time fair queueing).
 */
export function createTurnQueue({
  what,
  running: maxRunning,
  waitingPerCaller,
  waitMs,
  weightPerSecond = Number.POSITIVE_INFINITY,
}: QueueLimits): TurnQueue {
  /** The requests that wait, by caller. */
  const queues = new Map<string, Set<Waiting>>();
  /** The weight that callers have received, as far as it exceeds `base`. */
  const received = new Map<string, number>();
  /** What the caller of the last turn had received before it. */
  let base = 0;
  let running = 0;

  const receivedBy = (caller: string) => Math.max(base, received.get(caller) ?? 0);

  const startNext = () => {
    if (running >= maxRunning) return;
    const [first, ...others] = queues;
    if (!first) return;
    const [caller, waiting] = others.reduce(
      (least, other) => (receivedBy(other[0]) < receivedBy(least[0]) ? other : least),
      first,
    );
    const [next] = waiting;
    if (!next) return; // a caller without requests has no queue
    queues.delete(caller);
    waiting.delete(next);
    if (waiting.size > 0) queues.set(caller, waiting); // after callers who received the same weight
    base = receivedBy(caller);
    received.set(caller, base + next.weight);
    for (const [other, weight] of received) if (weight <= base) received.delete(other);
    running += 1;
    next.start();
  };

  const turnOf = (caller: string, weight: number) =>
    new Promise<void>((resolve, reject) => {
      const waiting = queues.get(caller) ?? new Set();
      if (waiting.size >= waitingPerCaller) {
        return reject(overloaded(`At most ${waitingPerCaller} ${what} of a caller wait at the same time.`));
      }
      const start = () => {
        clearTimeout(timer);
        resolve();
      };
      const one = { weight, start };
      const timer = setTimeout(() => {
        waiting.delete(one);
        if (waiting.size === 0) queues.delete(caller);
        reject(overloaded(`Too many ${what} wait.`));
      }, waitMs);
      queues.set(caller, waiting.add(one));
      startNext();
    });

  const end = () => {
    running -= 1;
    if (running === 0 && queues.size === 0) received.clear();
    startNext();
  };

  return {
    async run(caller, work, weight = 1) {
      await turnOf(caller, weight);
      const until = performance.now() + (weight * 1000) / weightPerSecond;
      try {
        return await work();
      } finally {
        const rest = until - performance.now();
        if (rest > 0) setTimeout(end, rest).unref();
        else end();
      }
    },
  };
}

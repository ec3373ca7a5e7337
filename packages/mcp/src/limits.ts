import { Problem } from '@svc/http';

/** The limits of one principal in one process. */
export interface CallLimits {
  readonly callsPerMinute: number;
  /** Calls at the same time. */
  readonly concurrentCalls: number;
  /** Calls of tools that wait, at the same time. */
  readonly concurrentWaits: number;
}

export const CALL_LIMITS: CallLimits = { callsPerMinute: 300, concurrentCalls: 16, concurrentWaits: 8 };

/** Counts the calls of principals. */
export interface CallLimiter {
  /**
   * Runs a call within the limits of its principal.
   * @throws 429 with the time after which a call is accepted again
   */
  run<T>(principal: string, isWait: boolean, call: () => Promise<T>): Promise<T>;
}

const MINUTE_MS = 60_000;

export function createCallLimiter(limits: CallLimits = CALL_LIMITS): CallLimiter {
  const running = createCounts();
  const waiting = createCounts();
  let started = { minute: 0, counts: createCounts() };
  const countCall = (principal: string) => {
    const now = Date.now();
    const minute = Math.floor(now / MINUTE_MS);
    // The counts of the last minute are dropped.
    if (minute !== started.minute) started = { minute, counts: createCounts() };
    if (started.counts.of(principal) >= limits.callsPerMinute) {
      const seconds = Math.ceil(((minute + 1) * MINUTE_MS - now) / 1000);
      throw limited(`At most ${limits.callsPerMinute} calls per minute are allowed for a principal.`, seconds);
    }
    started.counts.add(principal, 1);
  };
  return {
    async run(principal, isWait, call) {
      countCall(principal);
      if (running.of(principal) >= limits.concurrentCalls)
        throw limited(`At most ${limits.concurrentCalls} calls of a principal run at the same time.`, 1);
      if (isWait && waiting.of(principal) >= limits.concurrentWaits)
        throw limited(`At most ${limits.concurrentWaits} calls of a principal wait at the same time.`, 1);
      running.add(principal, 1);
      if (isWait) waiting.add(principal, 1);
      try {
        return await call();
      } finally {
        running.add(principal, -1);
        if (isWait) waiting.add(principal, -1);
      }
    },
  };
}

const limited = (bound: string, seconds: number) =>
  new Problem('rate_limited', `${bound} Retry in ${seconds} s.`, { headers: { 'Retry-After': `${seconds}` } });

/** A number for each key. A key with the number 0 is not stored. */
function createCounts() {
  const counts = new Map<string, number>();
  const of = (key: string) => counts.get(key) ?? 0;
  return {
    of,
    add: (key: string, by: number) => {
      const count = of(key) + by;
      if (count === 0) counts.delete(key);
      else counts.set(key, count);
    },
  };
}

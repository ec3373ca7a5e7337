import { createPlaces, Problem } from '@svc/http';

/** The limits of one principal in one process, and those of all principals. */
export interface CallLimits {
  readonly callsPerMinute: number;
  /** Calls at the same time. */
  readonly concurrentCalls: number;
  /** Calls of tools that wait, at the same time. */
  readonly concurrentWaits: number;
  /** Calls, and calls that wait, of all principals at the same time. They share them fairly. */
  readonly allCalls: number;
  readonly allWaits: number;
}

export const CALL_LIMITS: CallLimits = {
  callsPerMinute: 300,
  concurrentCalls: 16,
  concurrentWaits: 8,
  allCalls: 1000,
  allWaits: 500,
};

/** Counts the calls of principals. */
export interface CallLimiter {
  /**
   * Runs a call within the limits of its principal.
   * @throws 429 with the time after which a call is accepted again, also if other principals use
   * what the principal would need
   */
  run<T>(principal: string, isWait: boolean, call: () => Promise<T>): Promise<T>;
}

const MINUTE_MS = 60_000;

export function createCallLimiter(limits: CallLimits = CALL_LIMITS): CallLimiter {
  const refuse = (reason: string) => limited(reason, 1);
  const { concurrentCalls, concurrentWaits, allCalls, allWaits } = limits;
  const running = createPlaces({
    what: 'running calls',
    total: allCalls,
    perCaller: concurrentCalls,
    reserve: reserveOf(allCalls),
    refuse,
  });
  const waiting = createPlaces({
    what: 'waiting calls',
    total: allWaits,
    perCaller: concurrentWaits,
    reserve: reserveOf(allWaits),
    refuse,
  });
  let started = { minute: 0, counts: new Map<string, number>() };
  const countCall = (principal: string) => {
    const now = Date.now();
    const minute = Math.floor(now / MINUTE_MS);
    // The counts of the last minute are dropped.
    if (minute !== started.minute) started = { minute, counts: new Map() };
    const count = started.counts.get(principal) ?? 0;
    if (count >= limits.callsPerMinute) {
      const seconds = Math.ceil(((minute + 1) * MINUTE_MS - now) / 1000);
      throw limited(`At most ${limits.callsPerMinute} calls per minute are allowed for a principal.`, seconds);
    }
    started.counts.set(principal, count + 1);
  };
  return {
    async run(principal, isWait, call) {
      countCall(principal);
      const endCall = running.take(principal);
      let endWait = () => {};
      try {
        if (isWait) endWait = waiting.take(principal);
        return await call();
      } finally {
        endWait();
        endCall();
      }
    },
  };
}

/** For principals with at most one call. */
const reserveOf = (total: number) => ({ places: Math.floor(total / 4), perCaller: 1 });

const limited = (bound: string, seconds: number) =>
  new Problem('rate_limited', `${bound} Retry in ${seconds} s.`, { headers: { 'Retry-After': `${seconds}` } });

import { LRUCache } from 'lru-cache';
import { Problem } from '../response/problem.ts';

const WINDOW_MS = 60_000;

/** The number of callers whose requests are counted. The one without requests for the longest time is forgotten. */
const MAX_CALLERS = 100_000;

interface Window {
  count: number;
  /** By `performance.now()`. */
  readonly endsAt: number;
}

export interface RequestLimit {
  /** Counts a request of a caller. @throws 429 with the seconds until the next window */
  count(caller: string): void;
  /** Refuses a request of a caller without requests left, and counts none. @throws 429 */
  check(caller: string): void;
  /** Counts a request that was counted for one caller for another one instead. @throws 429 */
  recount(from: string, to: string): void;
}

/**
 * Limits the requests per minute and caller. It counts synchronously, because a promise for each
 * request costs more than the count, and express-rate-limit has no other interface.
 */
export function createRequestLimit(perMinute: number): RequestLimit {
  const windows = new LRUCache<string, Window>({ max: MAX_CALLERS });
  const windowOf = (caller: string) => {
    const now = performance.now();
    const known = windows.get(caller);
    if (known && known.endsAt > now) return known;
    const window = { count: 0, endsAt: now + WINDOW_MS };
    windows.set(caller, window);
    return window;
  };
  const refuseAbove = ({ count, endsAt }: Window, most: number) => {
    if (count > most) throw tooMany(perMinute, endsAt - performance.now());
  };
  const count = (caller: string) => {
    const window = windowOf(caller);
    window.count += 1;
    refuseAbove(window, perMinute);
  };
  return {
    count,
    check: (caller) => refuseAbove(windowOf(caller), perMinute - 1),
    recount(from, to) {
      const window = windowOf(from);
      window.count = Math.max(0, window.count - 1);
      count(to);
    },
  };
}

function tooMany(perMinute: number, milliseconds: number): Problem {
  const seconds = Math.max(1, Math.ceil(milliseconds / 1000));
  const detail = `At most ${perMinute} requests per minute are allowed for a session, an API key or a client address. Retry in ${seconds} s.`;
  return new Problem('rate_limited', detail, { headers: { 'Retry-After': `${seconds}` } });
}

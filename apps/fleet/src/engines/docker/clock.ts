/**
 * The period in which a response was produced, by a monotonic clock of this process in
 * milliseconds.
 */
interface Exchange {
  readonly sentAt: number;
  readonly receivedAt: number;
}

const SECOND_MS = 1000;

/**
 * Estimates the clock of a host from the header `Date` of its responses, which has whole seconds
 * (RFC 9110, section 5.6.7). Each response bounds the difference between the clock of the host and
 * that of this process. After a few responses, the difference is known much better than to a
 * second. If a response contradicts the earlier ones, one of the clocks was set, and only that
 * response counts.
 */
export function createHostClock() {
  let least = Number.NEGATIVE_INFINITY;
  let most = Number.POSITIVE_INFINITY;
  return {
    /**
     * The earliest possible time of the host when it sent the response, in milliseconds since the
     * epoch. `date` is the header. The clock of this process if there is no valid date.
     */
    timeOf: (date: unknown, { sentAt, receivedAt }: Exchange): number => {
      const second = Date.parse(String(date));
      if (Number.isNaN(second)) return Date.now();
      const lower = second - receivedAt;
      const upper = second + SECOND_MS - sentAt;
      const isConsistent = lower <= most && upper >= least;
      least = isConsistent ? Math.max(least, lower) : lower;
      most = isConsistent ? Math.min(most, upper) : upper;
      return Math.max(second, sentAt + least);
    },
  };
}

export type HostClock = ReturnType<typeof createHostClock>;

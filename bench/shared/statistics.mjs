// Statistics of measured values, and their units.

/** A comparison with values that vary by more than this share is inconclusive. */
const MAX_SPREAD = 0.25;

const sorted = (numbers) => numbers.toSorted((one, other) => one - other);

/** The value that a share of the numbers does not exceed. */
export const quantile = (numbers, share) =>
  sorted(numbers)[Math.min(numbers.length - 1, Math.floor(numbers.length * share))];
export const median = (numbers) => quantile(numbers, 0.5);
export const p99 = (numbers) => quantile(numbers, 0.99);

/**
 * The range that contains the median of all possible values in 19 of 20 cases, whatever their
 * distribution.
 */
export function rangeOfMedian(numbers) {
  const count = numbers.length;
  const rank = Math.max(0, Math.floor(count / 2 - 0.98 * Math.sqrt(count)));
  const ordered = sorted(numbers);
  return { low: ordered[rank], high: ordered[count - 1 - rank] };
}

/** Whether a value that must not change varies so much that a comparison with it means nothing. */
export const isNoisy = (numbers) => (Math.max(...numbers) - Math.min(...numbers)) / median(numbers) > MAX_SPREAD;

/** Formats a number of milliseconds. */
export const micro = (milliseconds) => `${(1000 * milliseconds).toFixed(0)} µs`;

/** Formats a share of a core. */
export const percent = (share) => `${(100 * share).toFixed(1)} %`;

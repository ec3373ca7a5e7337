/**
 * The delay before a watch is restarted, in milliseconds. It starts with about a hundredth of the
 * limit, and doubles with each failure in a row.
 */
export const retryDelay = (failures: number, limit: number): number =>
  Math.min(limit, (limit / 100) * 2 ** Math.min(failures, 10)) * (0.5 + Math.random() / 2);

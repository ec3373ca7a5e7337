const FIRST_SECONDS = 5;
const MOST_SECONDS = 900;
const MOST_ASKED_SECONDS = 86_400;

/** Seconds until the next try after so many failures in a row: exponential, with jitter between a half and the whole. */
export const backoff = (failures: number, random: () => number = Math.random): number =>
  Math.min(MOST_SECONDS, FIRST_SECONDS * 2 ** (failures - 1)) * (0.5 + random() / 2);

/** Seconds between two good syncs: never all fleets at once. */
export const spread = (seconds: number, random: () => number = Math.random): number => seconds * (0.9 + random() * 0.2);

/** Seconds that a `Retry-After` asks for, as a number or as a date (RFC 9110, section 10.2.3); a day at most. */
export function retryAfter(header: string | undefined, now = Date.now()): number {
  if (header === undefined) return 0;
  const seconds = /^\d+$/.test(header.trim()) ? Number(header) : (Date.parse(header) - now) / 1000;
  return Number.isNaN(seconds) ? 0 : Math.min(MOST_ASKED_SECONDS, Math.max(0, seconds));
}

import { z } from 'zod';
import { documentedAs } from './openapi-schema.ts';

const SHAPE =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?(?:[Zz]|([+-])(\d{2})(?::?(\d{2}))?)$/;

/**
 * Parses a timestamp of RFC 3339, also in the forms of ISO 8601 without seconds, with a decimal
 * comma, and with a basic offset. It is rounded down to milliseconds; a leap second to the last
 * millisecond before it.
 * @returns undefined for other text, such as a date without a time, no time zone, a day that does
 * not exist, or `now`.
 */
export function parseTimestamp(text: string): Date | undefined {
  const match = SHAPE.exec(text);
  if (!match) return undefined;
  // SHAPE has six groups before the fraction.
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0)) as Six;
  const [fraction = '', sign = '+', zoneHour = '0', zoneMinute = '0'] = match.slice(7, 11);
  if (year < 1 || hour > 23 || minute > 59 || second > 60 || Number(zoneHour) > 23 || Number(zoneMinute) > 59)
    return undefined;
  const isLeapSecond = second === 60;
  const milliseconds = isLeapSecond ? 999 : Number(fraction.padEnd(3, '0').slice(0, 3));
  const local = new Date(0);
  local.setUTCFullYear(year, month - 1, day);
  local.setUTCHours(hour, minute, isLeapSecond ? 59 : second, milliseconds);
  if (local.getUTCMonth() !== month - 1 || local.getUTCDate() !== day) return undefined;
  const offset = (Number(zoneHour) * 60 + Number(zoneMinute)) * 60_000;
  const at = new Date(local.getTime() - (sign === '-' ? -offset : offset));
  if (isLeapSecond && !isEndOfMonth(at)) return undefined;
  return at.getUTCFullYear() >= 1 && at.getUTCFullYear() <= 9999 ? at : undefined;
}

/** Leap seconds are inserted only at the end of the last day of a month in UTC (ITU-R TF.460). */
const isEndOfMonth = (at: Date): boolean => new Date(at.getTime() + 1).toISOString().endsWith('-01T00:00:00.000Z');

type Six = [number, number, number, number, number, number];

const EXPECTED = 'an ISO 8601 timestamp with a time zone, such as 2026-01-02T03:04:05.678Z (encode + as %2B in a URL)';

/** A timestamp in a request. The result is a Date. */
export const timestampInput = z
  .string()
  .transform((text, context) => {
    const at = parseTimestamp(text);
    if (at) return at;
    context.addIssue({ code: 'custom', message: `must be ${EXPECTED}` });
    return z.NEVER;
  })
  .meta({ format: 'date-time', pattern: SHAPE.source, description: 'ISO 8601 with a time zone' });

const DURATION = /^(?:(\d{1,5})d)?(?:(\d{1,6})h)?(?:(\d{1,7})m)?(?:(\d{1,9})s)?$/;
const UNITS = [86_400_000, 3_600_000, 60_000, 1000];

/** The milliseconds of a duration such as 1h30m; undefined for other text. */
function parseDuration(text: string): number | undefined {
  const amounts = text === '' ? null : DURATION.exec(text);
  return amounts?.slice(1).reduce((sum, amount = '0', index) => sum + Number(amount) * (UNITS[index] ?? 0), 0);
}

/** A time in a request, as a timestamp or as a duration before now. The result is a Date. */
export const pastInput = z
  .string()
  .transform((text, context) => {
    const duration = parseDuration(text);
    const at = duration === undefined ? parseTimestamp(text) : new Date(Math.max(0, Date.now() - duration));
    if (at) return at;
    context.addIssue({
      code: 'custom',
      message: `must be a duration with d, h, m or s, such as 10m or 1h30m, or ${EXPECTED}`,
    });
    return z.NEVER;
  })
  .meta({
    ...documentedAs({ type: 'string', examples: ['10m', '1h30m', '2026-01-02T03:04:05Z'] }),
    description: 'A duration before now with the units d, h, m and s, or an ISO 8601 timestamp with a time zone',
  });

/** A timestamp in a response: UTC with milliseconds. Accepts a Date or such a string. */
export const timestamp = z
  .union([z.date(), z.string()])
  .transform((at) => (typeof at === 'string' ? at : at.toISOString()))
  .pipe(z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/))
  .meta({ ...documentedAs({ type: 'string', format: 'date-time' }) });

import { z } from 'zod';
import { shownAs } from './shown.ts';

const SHAPE =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?(?:[Zz]|([+-])(\d{2})(?::?(\d{2}))?)$/;

/**
 * Reads an ISO 8601 timestamp with a zone, floored to milliseconds.
 * @returns undefined for anything else: a date alone, no zone, a day that does not exist, `now`.
 */
export function parseTimestamp(text: string): Date | undefined {
  const match = SHAPE.exec(text);
  if (!match) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0)) as Six;
  const [fraction = '', sign = '+', zoneHour = '0', zoneMinute = '0'] = match.slice(7, 11);
  if (year < 1 || hour > 23 || minute > 59 || second > 59 || Number(zoneHour) > 23 || Number(zoneMinute) > 59)
    return undefined;
  const milliseconds = Number(fraction.padEnd(3, '0').slice(0, 3));
  const local = new Date(0);
  local.setUTCFullYear(year, month - 1, day);
  local.setUTCHours(hour, minute, second, milliseconds);
  if (local.getUTCMonth() !== month - 1 || local.getUTCDate() !== day) return undefined;
  const offset = (Number(zoneHour) * 60 + Number(zoneMinute)) * 60_000;
  const at = new Date(local.getTime() - (sign === '-' ? -offset : offset));
  return at.getUTCFullYear() >= 1 && at.getUTCFullYear() <= 9999 ? at : undefined;
}

type Six = [number, number, number, number, number, number];

const EXPECTED = 'an ISO 8601 timestamp with a zone, such as 2026-01-02T03:04:05.678Z (encode a + as %2B)';

/** A timestamp as a caller may write it; a Date inside. */
export const timestampInput = z
  .string()
  .transform((text, context) => {
    const at = parseTimestamp(text);
    if (at) return at;
    context.addIssue({ code: 'custom', message: `must be ${EXPECTED}` });
    return z.NEVER;
  })
  .meta({ ...shownAs({ type: 'string', format: 'date-time' }), description: 'ISO 8601 with a zone' });

/** A timestamp as we write it: UTC with milliseconds. Takes a Date. */
export const timestamp = z
  .union([z.date(), z.string()])
  .transform((at) => (typeof at === 'string' ? at : at.toISOString()))
  .pipe(z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/))
  .meta({ ...shownAs({ type: 'string', format: 'date-time' }) });

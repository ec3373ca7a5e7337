import { expect, test } from '@jest/globals';
import { parseTimestamp, timestamp, timestampInput } from '../src/index.ts';
import { pastInput } from '../src/shared/timestamp.ts';

test.each([
  ['2026-01-02T03:04:05.678Z', '2026-01-02T03:04:05.678Z'],
  ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000Z'],
  ['2026-01-02T03:04Z', '2026-01-02T03:04:00.000Z'],
  ['2026-01-02t03:04:05z', '2026-01-02T03:04:05.000Z'],
  ['2026-01-02T03:04:05,5Z', '2026-01-02T03:04:05.500Z'],
  ['2026-01-02T03:04:05+02:00', '2026-01-02T01:04:05.000Z'],
  ['2026-01-02T03:04:05+0200', '2026-01-02T01:04:05.000Z'],
  ['2026-01-02T03:04:05-02', '2026-01-02T05:04:05.000Z'],
  ['2026-01-02T03:04:05-00:30', '2026-01-02T03:34:05.000Z'],
  ['2025-12-31T23:30:00-01:00', '2026-01-01T00:30:00.000Z'],
  ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
  ['1970-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z'],
  ['2016-12-31T23:59:60Z', '2016-12-31T23:59:59.999Z'],
  ['2016-12-31T15:59:60.25-08:00', '2016-12-31T23:59:59.999Z'],
])('parses %s as %s', (text, expected) => {
  expect(parseTimestamp(text)?.toISOString()).toBe(expected);
});

test.each([
  ['after 1970', '2026-01-02T03:04:05.6789999Z', '2026-01-02T03:04:05.678Z'],
  ['before 1970', '1969-12-31T23:59:59.9999Z', '1969-12-31T23:59:59.999Z'],
  ['with a long fraction', `2026-01-02T03:04:05.${'9'.repeat(1000)}Z`, '2026-01-02T03:04:05.999Z'],
])('rounds down to milliseconds: %s', (_, text, expected) => {
  expect(parseTimestamp(text)?.toISOString()).toBe(expected);
});

test.each([
  ['nothing', ''],
  ['a missing zone', '2026-01-02T03:04:05'],
  ['a date alone', '2026-01-02'],
  ['a month alone', '2026-01'],
  ['a week date', '2026-W01-1T00:00:00Z'],
  ['no separators', '20260102T030405Z'],
  ['now', 'now'],
  ['today', 'today'],
  ['epoch', 'epoch'],
  ['infinity', 'infinity'],
  ['-infinity', '-infinity'],
  ['seconds since 1970', '1767323045'],
  ['an HTTP date', 'Fri, 02 Jan 2026 03:04:05 GMT'],
  ['the name of a time zone', '2026-01-02T03:04:05 UTC'],
  ['a space where a + was not encoded', '2026-01-02T03:04:05 02:00'],
  ['a space in place of the T', '2026-01-02 03:04:05Z'],
  ['a leading space', ' 2026-01-02T03:04:05Z'],
  ['a trailing line break', '2026-01-02T03:04:05Z\n'],
  ['an hour alone', '2026-01-02T03Z'],
  ['hour 24', '2026-01-02T24:00:00Z'],
  ['minute 60', '2026-01-02T03:60:00Z'],
  ['a leap second in the middle of a day', '2016-12-31T12:59:60Z'],
  ['a leap second in the middle of a month', '2016-12-30T23:59:60Z'],
  ['second 61', '2016-12-31T23:59:61Z'],
  ['month 13', '2026-13-02T03:04:05Z'],
  ['month 0', '2026-00-02T03:04:05Z'],
  ['day 0', '2026-01-00T03:04:05Z'],
  ['30 February', '2026-02-30T03:04:05Z'],
  ['29 February of a common year', '2025-02-29T03:04:05Z'],
  ['31 April', '2026-04-31T03:04:05Z'],
  ['an offset of 24 hours', '2026-01-02T03:04:05+24:00'],
  ['an offset of 60 minutes', '2026-01-02T03:04:05+01:60'],
  ['an offset of one digit', '2026-01-02T03:04:05+1'],
  ['a fraction without digits', '2026-01-02T03:04:05.Z'],
  ['a year of two digits', '26-01-02T03:04:05Z'],
  ['a year of five digits', '12026-01-02T03:04:05Z'],
  ['a year with a sign', '+002026-01-02T03:04:05Z'],
  ['other digits', '٢٠٢٦-01-02T03:04:05Z'],
])('rejects %s', (_, text) => {
  expect(parseTimestamp(text)).toBeUndefined();
});

test.each([
  ['the first moment', '0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ['the last moment', '9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ['year 0', '0000-12-31T23:59:59Z', undefined],
  ['an offset that results in a time before year 1', '0001-01-01T00:00:00+00:01', undefined],
  ['an offset that results in a time after year 9999', '9999-12-31T23:59:59-00:01', undefined],
])('handles the first and last years: %s', (_, text, expected) => {
  expect(parseTimestamp(text)?.toISOString()).toBe(expected);
});

test('an invalid timestamp is rejected with the expected format and a hint to encode +', () => {
  const result = timestampInput.safeParse('now');
  expect(result.error?.issues.map(({ message }) => message)).toEqual([
    'must be an ISO 8601 timestamp with a time zone, such as 2026-01-02T03:04:05.678Z (encode + as %2B in a URL)',
  ]);
});

test('a timestamp in a request is parsed to a Date', () => {
  expect(timestampInput.parse('2026-01-02T03:04:05+01:00')).toEqual(new Date('2026-01-02T02:04:05Z'));
});

test('a timestamp in a response is in UTC with milliseconds', () => {
  expect(timestamp.parse(new Date(0))).toBe('1970-01-01T00:00:00.000Z');
});

test.each(['2026-01-02T03:04:05Z', '2026-01-02', ''])('a timestamp in a response cannot be %p', (text) => {
  expect(timestamp.safeParse(text).success).toBe(false);
});

test('an invalid Date cannot be a timestamp in a response', () => {
  expect(() => timestamp.parse(new Date(Number.NaN))).toThrow();
});

test.each([
  ['45s', 45],
  ['10m', 600],
  ['1h30m', 5400],
  ['1d1h1m1s', 90_061],
])('reads the duration %s as a time before now', (text, seconds) => {
  const before = Date.now();
  const at = pastInput.parse(text).getTime() + seconds * 1000;
  expect(at).toBeGreaterThanOrEqual(before);
  expect(at).toBeLessThanOrEqual(Date.now());
});

test.each(['', '10', 'm', '1.5h', '1m1h', '-1m', '1M', '1w', '999999d', '10 m'])(
  'does not accept "%s" as a time in the past',
  (text) => {
    expect(pastInput.safeParse(text).success).toBe(false);
  },
);

test('accepts a timestamp as a time in the past, and no time before 1970 for a long duration', () => {
  expect(pastInput.parse('2026-01-02T03:04:05Z')).toEqual(new Date('2026-01-02T03:04:05Z'));
  expect(pastInput.parse('99999d')).toEqual(new Date(0));
});

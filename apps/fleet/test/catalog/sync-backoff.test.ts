import { backoff, retryAfter, spread } from '../../src/catalog/sync-failures.ts';

const LEAST = () => 0;
const MOST = () => 1 - Number.EPSILON;

describe('backoff', () => {
  test('doubles with each failure, up to a quarter of an hour', () => {
    const seconds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1000].map((failures) => Math.round(backoff(failures, MOST)));
    expect(seconds).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 900, 900, 900]);
  });

  test('is cut by jitter to a half at most', () => {
    for (const failures of [1, 2, 9, 1000]) {
      expect(backoff(failures, LEAST)).toBe(backoff(failures, () => 1) / 2);
    }
  });

  test('differs from time to time', () => {
    const some = Array.from({ length: 20 }, () => backoff(3));
    expect(new Set(some).size).toBeGreaterThan(1);
    expect(some.every((seconds) => seconds >= 10 && seconds <= 20)).toBe(true);
  });
});

describe('spread', () => {
  test('is a tenth more or less', () => {
    expect(spread(300, LEAST)).toBeCloseTo(270);
    expect(spread(300, MOST)).toBeCloseTo(330);
  });

  test('differs from time to time', () => {
    const some = Array.from({ length: 20 }, () => spread(300));
    expect(new Set(some).size).toBeGreaterThan(1);
    expect(some.every((seconds) => seconds >= 270 && seconds <= 330)).toBe(true);
  });
});

describe('Retry-After', () => {
  const now = Date.parse('2026-05-01T00:00:00Z');

  test.each([
    ['seconds', '120', 120],
    ['none', '0', 0],
    ['with spaces around', ' 7 ', 7],
    ['a date', 'Fri, 01 May 2026 00:02:00 GMT', 120],
    ['a date of long ago', 'Sun, 06 Nov 1994 08:49:37 GMT', 0],
    ['more than a day', '999999999', 86_400],
    ['a date in years', 'Fri, 01 May 2037 00:00:00 GMT', 86_400],
    ['a number beyond all numbers', '9'.repeat(400), 86_400],
    ['less than nothing', '-5', 0],
    ['a fraction', '1.5', 0],
    ['in words', 'soon', 0],
    ['empty', '', 0],
  ])('%s', (_, header, seconds) => {
    expect(retryAfter(header, now)).toBe(seconds);
  });

  test('left out is none', () => {
    expect(retryAfter(undefined, now)).toBe(0);
  });
});

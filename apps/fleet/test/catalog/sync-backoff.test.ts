import { backoff, retryAfter, withJitter } from '../../src/catalog/sync-state.ts';

const LEAST = () => 0;
const MOST = () => 1 - Number.EPSILON;

describe('the backoff of the sync', () => {
  test('doubles with each failure, up to 15 minutes', () => {
    const seconds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1000].map((failures) => Math.round(backoff(failures, MOST)));
    expect(seconds).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 900, 900, 900]);
  });

  test('is reduced by jitter to at least half', () => {
    for (const failures of [1, 2, 9, 1000]) {
      expect(backoff(failures, LEAST)).toBe(backoff(failures, () => 1) / 2);
    }
  });

  test('is random', () => {
    const some = Array.from({ length: 20 }, () => backoff(3));
    expect(new Set(some).size).toBeGreaterThan(1);
    expect(some.every((seconds) => seconds >= 10 && seconds <= 20)).toBe(true);
  });
});

describe('the jitter of the sync interval', () => {
  test('is at most ten percent', () => {
    expect(withJitter(300, LEAST)).toBeCloseTo(270);
    expect(withJitter(300, MOST)).toBeCloseTo(330);
  });

  test('is random', () => {
    const some = Array.from({ length: 20 }, () => withJitter(300));
    expect(new Set(some).size).toBeGreaterThan(1);
    expect(some.every((seconds) => seconds >= 270 && seconds <= 330)).toBe(true);
  });
});

describe('parsing Retry-After:', () => {
  const now = Date.parse('2026-05-01T00:00:00Z');

  test.each([
    ['seconds', '120', 120],
    ['zero', '0', 0],
    ['a number with spaces around it', ' 7 ', 7],
    ['a date', 'Fri, 01 May 2026 00:02:00 GMT', 120],
    ['a date in the past', 'Sun, 06 Nov 1994 08:49:37 GMT', 0],
    ['more than a day', '999999999', 86_400],
    ['a date years ahead', 'Fri, 01 May 2037 00:00:00 GMT', 86_400],
    ['a number that exceeds all doubles', '9'.repeat(400), 86_400],
    ['a negative number', '-5', 0],
    ['a fraction', '1.5', 0],
    ['text', 'soon', 0],
    ['an empty value', '', 0],
  ])('%s', (_, header, seconds) => {
    expect(retryAfter(header, now)).toBe(seconds);
  });

  test('a missing header is 0', () => {
    expect(retryAfter(undefined, now)).toBe(0);
  });
});

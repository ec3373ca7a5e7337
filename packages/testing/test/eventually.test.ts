import os from 'node:os';
import { jest } from '@jest/globals';
import { startDeadline, timeFactor, waitLimit } from '../src/run/deadlines.ts';
import { eventually } from '../src/run/eventually.ts';

afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

test('a wait ends with the first value that is truthy', async () => {
  const values = [undefined, null, false, 0, '', 1, 2];
  expect(await eventually('there is a value', () => values.shift())).toBe(1);
});

test('a wait with until ends with the first value for which it is true', async () => {
  let count = 0;
  const counted = eventually('the count is 3', async () => ++count, { until: (value) => value === 3 });
  expect(await counted).toBe(3);
});

test('a wait that fails names its condition and the last value', async () => {
  const deployment = { phase: 'pending', reason: null };
  const wait = eventually('the deployment is running', () => deployment, {
    until: ({ phase }) => phase === 'running',
    withinMs: 1,
  });
  const message = "and the last observed value is { phase: 'pending', reason: null }";
  await expect(wait).rejects.toThrow(/^the deployment is running: not after \d+\.\d s, /);
  await expect(wait).rejects.toThrow(message);
});

test('an error of the observation ends the wait', async () => {
  const fail = () => {
    throw new RangeError('no such deployment');
  };
  await expect(eventually('the deployment is running', fail)).rejects.toThrow(RangeError);
});

test('a wait works while the clock and the timers are replaced', async () => {
  jest.useFakeTimers();
  let count = 0;
  await eventually('the count is 3', () => ++count === 3);
  await expect(eventually('there is a value', () => undefined, { withinMs: 1 })).rejects.toThrow('there is a value');
});

test('a wait ends before the test that it belongs to', () => {
  startDeadline(5000);
  expect(waitLimit(3_600_000)).toBeLessThanOrEqual(3000);
});

test('a deadline grows with the number of processes that share a core', () => {
  const cores = os.availableParallelism();
  const load = jest.spyOn(os, 'loadavg').mockReturnValue([0, 0, 0]);
  const idle = timeFactor();
  expect(idle).toBeGreaterThanOrEqual(1);
  load.mockReturnValue([3 * cores, 0, 0]);
  expect(timeFactor()).toBeCloseTo(Math.min(8, 3 * idle), 0);
  load.mockReturnValue([1000 * cores, 0, 0]);
  expect(timeFactor()).toBe(8);
});

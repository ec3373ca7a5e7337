import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { step } from '../../bootstrap/steps.mjs';

let lines: unknown[];
beforeEach(() => {
  lines = [];
  jest.spyOn(console, 'log').mockImplementation((line) => lines.push(line));
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

test('a step prints a line at least every 10 seconds, and one with its duration at the end', async () => {
  let end: (value: string) => void = () => undefined;
  const result = step('building the services', () => new Promise<string>((resolve) => (end = resolve)));
  jest.advanceTimersByTime(17_400);
  end('built');
  expect(await result).toBe('built');
  expect(lines).toEqual([
    'building the services: not complete after 8 s',
    'building the services: not complete after 16 s',
    'building the services: 17.4 s',
  ]);
});

test('a step that fails prints no duration, and no further line', async () => {
  await expect(step('building the services', () => Promise.reject(new Error('no space left')))).rejects.toThrow(
    'no space left',
  );
  jest.advanceTimersByTime(60_000);
  expect(lines).toEqual([]);
});

import { expect, test } from '@jest/globals';
import { createCallLimiter } from '../src/limits.ts';

const LIMITS = { callsPerMinute: 100, concurrentCalls: 3, concurrentWaits: 1, allCalls: 100, allWaits: 100 };
const limited = { code: 'rate_limited', headers: { 'Retry-After': expect.stringMatching(/^\d+$/) } };

test('calls of a principal at the same time are limited, those that wait more strictly', async () => {
  const { run } = createCallLimiter(LIMITS);
  const ends: (() => void)[] = [];
  const start = (principal: string, isWait = false) =>
    run(principal, isWait, () => new Promise<void>((resolve) => ends.push(resolve)));
  const running = [start('one', true), start('one')];
  await expect(start('one', true)).rejects.toMatchObject(limited);
  running.push(start('one'));
  await expect(start('one')).rejects.toMatchObject(limited);
  running.push(start('two', true));
  for (const end of ends) end();
  await Promise.all(running);
  await expect(run('one', true, async () => 'done')).resolves.toBe('done');
});

test('a call that fails no longer counts as running', async () => {
  const { run } = createCallLimiter({ ...LIMITS, concurrentCalls: 1 });
  const fail = () => run('one', true, () => Promise.reject(new Error('broken')));
  await expect(fail()).rejects.toThrow('broken');
  await expect(fail()).rejects.toThrow('broken');
});

test('calls of a principal per minute are limited', async () => {
  const { run } = createCallLimiter({ ...LIMITS, callsPerMinute: 2 });
  const call = (principal: string) => run(principal, false, async () => 'done');
  const results = await Promise.allSettled(Array.from({ length: 6 }, () => call('one')));
  // A new minute can begin meanwhile.
  expect(results.filter(({ status }) => status === 'rejected').length).toBeGreaterThanOrEqual(2);
  await expect(call('two')).resolves.toBe('done');
});

test('principals who wait leave a part of the waits of all to others', async () => {
  const { run } = createCallLimiter({ ...LIMITS, concurrentWaits: 3, allWaits: 4 });
  const ends: (() => void)[] = [];
  const wait = (principal: string) => run(principal, true, () => new Promise<void>((resolve) => ends.push(resolve)));
  const waits = [wait('one'), wait('one'), wait('two')];
  await expect(wait('one')).rejects.toMatchObject(limited);
  await expect(wait('two')).rejects.toMatchObject(limited);
  waits.push(wait('three'));
  for (const end of ends) end();
  await Promise.all(waits);
});

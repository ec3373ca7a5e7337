import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { createRejectionDelay } from '../../src/limits/rejection-delay.ts';

/**
 * Delays that end when a test ends them. A network that has used its burst gets no more in the time
 * of a test.
 */
function limited(burst: number, maxDelayed = 10) {
  const ends: (() => void)[] = [];
  const pause = () => new Promise<void>((resolve) => ends.push(resolve));
  return { ends, delay: createRejectionDelay({ burst, perSecond: 1e-6, pause, maxDelayed }) };
}

test('delays the rejections of a network after its burst, and not those of another one', async () => {
  const { ends, delay } = limited(2);
  for (const status of [400, 401]) expect(await delay('192.0.2.1', status)).toBe(false);
  const delayed = delay('192.0.2.1', 405);
  expect(await Promise.race([delayed, turn('delayed')])).toBe('delayed');
  expect(await delay('192.0.2.2', 400)).toBe(false);
  ends[0]?.();
  expect(await delayed).toBe(false);
});

test.each([404, 409, 412, 422, 429, 503])('does not delay and not count the status %d', async (status) => {
  const { delay } = limited(1);
  for (let n = 0; n < 3; n += 1) expect(await delay('192.0.2.1', status)).toBe(false);
  expect(await delay('192.0.2.1', 400)).toBe(false);
});

test('closes the connection of a rejection if too many of its network are delayed', async () => {
  const { ends, delay } = limited(1, 1);
  await delay('2001:db8::1', 400);
  const delayed = delay('2001:db8::2', 400);
  expect(await delay('2001:db8::3', 400)).toBe(true);
  ends[0]?.();
  expect(await delayed).toBe(false);
  const next = delay('2001:db8::3', 400);
  expect(await Promise.race([next, turn('delayed')])).toBe('delayed');
});

test('a network regains rejections without delay over time', async () => {
  const delay = createRejectionDelay({
    burst: 1,
    perSecond: 1000,
    pause: () => Promise.reject(new Error('delayed')),
    maxDelayed: 1,
  });
  await delay('192.0.2.1', 400);
  for (const until = performance.now() + 5; performance.now() < until; ) await turn();
  expect(await delay('192.0.2.1', 400)).toBe(false);
});

import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { createRejectionDelay } from '../../src/limits/rejection-delay.ts';
import { Problem } from '../../src/response/problem.ts';

/**
 * Delays that end when a test ends them. A network that has used its burst gets no more in the time
 * of a test.
 */
function limited(burst: number, maxDelayed = 10) {
  const ends: (() => void)[] = [];
  const waits: number[] = [];
  const pause = (milliseconds: number) => {
    waits.push(milliseconds);
    return new Promise<void>((resolve) => ends.push(resolve));
  };
  return { ends, waits, delay: createRejectionDelay({ burst, perSecond: 1e-6, pause, maxDelayed }) };
}

const codes = {
  400: 'invalid_request',
  401: 'unauthenticated',
  404: 'not_found',
  405: 'method_not_allowed',
  409: 'in_use',
  412: 'version_conflict',
  422: 'invalid_env',
} as const;

const problem = (status: keyof typeof codes) => new Problem(codes[status]);

test('delays the rejections of a network after its burst, and not those of another one', async () => {
  const { ends, delay } = limited(2);
  for (const status of [400, 401] as const) expect(await delay('192.0.2.1', problem(status))).toBe(false);
  const delayed = delay('192.0.2.1', problem(405));
  expect(await Promise.race([delayed, turn('delayed')])).toBe('delayed');
  expect(await delay('192.0.2.2', problem(400))).toBe(false);
  ends[0]?.();
  expect(await delayed).toBe(false);
});

test.each([new Problem('rate_limited'), new Problem('overloaded')])('delays $code', async (rejection) => {
  const { delay } = limited(1);
  expect(await delay('192.0.2.1', rejection)).toBe(false);
  expect(await Promise.race([delay('192.0.2.1', rejection), turn('delayed')])).toBe('delayed');
});

test.each([...([404, 409, 412, 422] as const).map(problem), new Problem('unavailable')])(
  'does not delay and not count $code',
  async (failure) => {
    const { delay } = limited(1);
    for (let n = 0; n < 3; n += 1) expect(await delay('192.0.2.1', failure)).toBe(false);
    expect(await delay('192.0.2.1', problem(400))).toBe(false);
  },
);

test('delayed rejections of a network are sent one after the other', async () => {
  const { waits, delay } = limited(1);
  for (const _ of [0, 1, 2, 3]) void delay('192.0.2.1', problem(400));
  await turn();
  expect(waits.map((wait) => Math.round(wait / 1e9))).toEqual([1, 2, 3]);
});

test('closes the connection of a rejection if too many of its network are delayed', async () => {
  const { ends, delay } = limited(1, 1);
  await delay('2001:db8::1', problem(400));
  const delayed = delay('2001:db8::2', problem(400));
  expect(await delay('2001:db8::3', problem(400))).toBe(true);
  ends[0]?.();
  expect(await delayed).toBe(false);
});

test('a network regains rejections without delay over time', async () => {
  const delay = createRejectionDelay({
    burst: 1,
    perSecond: 1000,
    pause: () => Promise.reject(new Error('delayed')),
    maxDelayed: 1,
  });
  await delay('192.0.2.1', problem(400));
  for (const until = performance.now() + 5; performance.now() < until; ) await turn();
  expect(await delay('192.0.2.1', problem(400))).toBe(false);
});

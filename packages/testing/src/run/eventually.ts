import { inspect } from 'node:util';
import { WAIT_MS, waitLimit } from './deadlines.ts';

// A test can replace the clock and the timers.
const clock = performance.now.bind(performance);
const { setTimeout } = globalThis;

/** Milliseconds between two observations: first short, for what happens soon, and then twice as long each time. */
const FIRST_INTERVAL_MS = 5;
const LONGEST_INTERVAL_MS = 100;

interface WaitOptions<T> {
  /** Whether the wait is over. Default: the value is truthy. */
  readonly until?: (value: T) => boolean;
  /** The deadline in milliseconds. It is scaled with the speed of the machine, and ends before the test ends. */
  readonly withinMs?: number;
}

type Truthy<T> = Exclude<T, undefined | null | false | 0 | ''>;

/**
 * Observes a value until it is as it should be. An error of `observe` ends the wait.
 * @param what the condition as a sentence: "the deployment is running"
 * @returns the last value
 * @throws an error with the condition and the last value after the deadline
 */
export async function eventually<T>(
  what: string,
  observe: () => T | Promise<T>,
  { until = Boolean, withinMs = WAIT_MS }: WaitOptions<T> = {},
): Promise<Truthy<T>> {
  const limit = waitLimit(withinMs);
  const started = clock();
  for (let interval = FIRST_INTERVAL_MS; ; interval = Math.min(2 * interval, LONGEST_INTERVAL_MS)) {
    const value = await observe();
    if (until(value)) return value as Truthy<T>; // `until` decides
    const waited = clock() - started;
    if (waited >= limit) throw new Error(`${what}: not after ${seconds(waited)} s, ${lastValue(value)}`);
    await new Promise((resolve) => setTimeout(resolve, interval));
  }
}

const seconds = (milliseconds: number) => (milliseconds / 1000).toFixed(1);

const lastValue = (value: unknown) =>
  `and the last observed value is ${inspect(value, { depth: 6, maxArrayLength: 20, maxStringLength: 2000, breakLength: 120 })}`;

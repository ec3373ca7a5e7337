import os from 'node:os';
import { byDepth } from './depth.ts';

/** The timeout of a test or a hook on a machine of the reference speed without other work, in milliseconds. */
export const TEST_MS = 180_000;
/** The timeout of a test that does as much work as many others, or more at the depth of this run. */
export const LONG_TEST_MS = byDepth({ short: 600_000, full: 600_000, long: 3_600_000 });
/** The deadline of a wait for a condition, in milliseconds. */
export const WAIT_MS = 60_000;

const LONGEST_FACTOR = 8;

/** A wait ends this long before the test that it belongs to, so that the failure names the wait. */
const MARGIN_MS = 2000;

// A test can replace the clock and the timers.
const clock = performance.now.bind(performance);

const CALCULATION_STEPS = 500_000;
const MEMORY_BYTES = 8 * 1024 * 1024;
const PAGE_BYTES = 4096;
/** What the calculation and the first use of the memory take on the reference machine. */
const REFERENCE_MS = { calculation: 0.6, memory: 2 };
/** The shortest of several runs is not interrupted by other processes, and its code is compiled. */
const RUNS = 8;

/**
 * How many times longer work takes than on the reference machine: the mean of the processor, and of memory that is used
 * for the first time, which takes much longer on some virtual machines.
 */
const slowness = (shortest(calculate) / REFERENCE_MS.calculation + shortest(useMemory) / REFERENCE_MS.memory) / 2;

function shortest(work: () => number): number {
  const durations = Array.from({ length: RUNS }, () => {
    const started = clock();
    // The result is used, so that the work is not removed.
    return work() === 0 ? Number.POSITIVE_INFINITY : clock() - started;
  });
  return Math.min(...durations);
}

function calculate(): number {
  let state = 1;
  for (let step = 0; step < CALCULATION_STEPS; step += 1) state = (Math.imul(state, 1_103_515_245) + 12_345) | 0;
  return state;
}

function useMemory(): number {
  const memory = Buffer.allocUnsafeSlow(MEMORY_BYTES);
  for (let page = 0; page < memory.length; page += PAGE_BYTES) memory[page] = 1;
  return memory.length;
}

/**
 * How many times longer work can take now than on the reference machine without other work, from 1 to 8: the speed of
 * the machine, and the number of processes that share each of its cores.
 */
export function timeFactor(): number {
  const [load = 0] = os.loadavg();
  const contention = Math.max(1, load / os.availableParallelism());
  return Math.min(LONGEST_FACTOR, Math.max(1, slowness * contention));
}

/** A deadline in milliseconds, scaled with the speed of the machine. */
export const scaled = (milliseconds: number): number => Math.round(milliseconds * timeFactor());

/** When the test or the hook that runs now ends at the latest. */
let end = Number.POSITIVE_INFINITY;

/** Records that a test or a hook with this timeout starts. The environment of Jest calls it. */
export function startDeadline(timeout: number): void {
  end = clock() + timeout;
}

/** The milliseconds for a wait that begins now: `milliseconds` scaled, or less if the test ends before. */
export const waitLimit = (milliseconds: number): number =>
  Math.max(0, Math.min(scaled(milliseconds), end - clock() - MARGIN_MS));

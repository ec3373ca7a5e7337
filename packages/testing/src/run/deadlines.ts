import { spawnSync } from 'node:child_process';
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
/** What the calculation and a process that does nothing take on the reference machine. */
const REFERENCE_MS = { calculation: 0.6, process: 2 };
/** The shortest of several runs is not interrupted by other processes, and its code is compiled. */
const RUNS = 8;

/**
 * How many times longer work takes than on the reference machine, at least 1: the mean of the processor, and of the kernel,
 * whose work for processes and memory takes much longer on some virtual machines.
 */
const slowness = Math.max(
  1,
  (shortest(calculate) / REFERENCE_MS.calculation + shortest(startProcess) / REFERENCE_MS.process) / 2,
);

function shortest(work: () => number | null): number {
  const durations = Array.from({ length: RUNS }, () => {
    const started = clock();
    // The result is used, so that the work is not removed.
    return work() === -1 ? Number.POSITIVE_INFINITY : clock() - started;
  });
  return Math.min(...durations);
}

function calculate(): number {
  let state = 1;
  for (let step = 0; step < CALCULATION_STEPS; step += 1) state = (Math.imul(state, 1_103_515_245) + 12_345) | 0;
  return state;
}

function startProcess(): number | null {
  return spawnSync('true', { stdio: 'ignore' }).status;
}

/**
 * How many times longer work can take now than on the reference machine without other work, from 1 to 8: the speed of
 * the machine, and the number of processes that share each of its cores.
 */
export function timeFactor(): number {
  const [load = 0] = os.loadavg();
  const contention = Math.max(1, load / os.availableParallelism());
  return Math.min(LONGEST_FACTOR, slowness * contention);
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

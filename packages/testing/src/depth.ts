const depths = ['short', 'full', 'long'] as const;

/**
 * How much work a test that can be scaled does. `short` is for every run while developing, `full` is for CI, and `long` is
 * for a run by hand before a change in the tested area is accepted.
 */
export type Depth = (typeof depths)[number];

/** The depth of this run: `TEST_DEPTH`, or `short`. @throws RangeError if `TEST_DEPTH` is not a depth */
export const depth: Depth = readDepth(process.env.TEST_DEPTH);

/** The value for the depth of this run. Each scalable test states its three values where it is defined. */
export const byDepth = <T>(values: Readonly<Record<Depth, T>>): T => values[depth];

/** The seed of all generated input in this run: `TEST_SEED`, or 1. @throws RangeError if `TEST_SEED` is not a seed */
export const seed: number = readSeed(process.env.TEST_SEED);

function readDepth(given = 'short'): Depth {
  const known = depths.find((each) => each === given);
  if (!known) throw new RangeError(`TEST_DEPTH must be one of ${depths.join(', ')}, not ${given}`);
  return known;
}

function readSeed(given = '1'): number {
  if (!/^\d{1,9}$/.test(given)) throw new RangeError(`TEST_SEED must be a whole number up to 999999999, not ${given}`);
  return Number(given);
}

/** Prints a measured figure at depth `long`. Shorter runs print nothing. */
export function figure(line: string): void {
  if (depth === 'long') process.stderr.write(`${line}\n`);
}

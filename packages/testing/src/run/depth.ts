const depths = ['short', 'full', 'long'] as const;

/**
 * How much work a scalable test does. `short` is for development and CI, `full` is for the complete run before a change is
 * accepted, and `long` is for manual runs before a change of the tested code is accepted.
 */
export type Depth = (typeof depths)[number];

/**
 * The depth of this run: `TEST_DEPTH`, or `short`. At depth `ci`, which also runs the `*.ci.test.ts` files, tests do the
 * work of `short`. @throws RangeError if `TEST_DEPTH` is not a depth
 */
export const depth: Depth = readDepth(process.env.TEST_DEPTH);

/**
 * The value for the depth of this run. Each scalable test states its three values where it is
 * defined.
 */
export const byDepth = <T>(values: Readonly<Record<Depth, T>>): T => values[depth];

/**
 * The value for the depth of this run in a `*.full.test.ts`, which does not run at depth `short`.
 */
export const fromFull = <T>({ full, long }: { readonly full: T; readonly long: T }): T =>
  byDepth({ short: full, full, long });

/**
 * The seed of all generated input in this run: `TEST_SEED`, or 1.
 * @throws RangeError if `TEST_SEED` is not a seed
 */
export const seed: number = readSeed(process.env.TEST_SEED);

function readDepth(given = 'short'): Depth {
  if (given === 'ci') return 'short';
  const known = depths.find((each) => each === given);
  if (!known) throw new RangeError(`TEST_DEPTH must be one of ${[...depths, 'ci'].join(', ')}, not ${given}`);
  return known;
}

function readSeed(given = '1'): number {
  if (!/^\d{1,9}$/.test(given)) throw new RangeError(`TEST_SEED must be an integer from 0 to 999999999, not ${given}`);
  return Number(given);
}

/** Prints a measured figure at depth `long` only. */
export function figure(line: string): void {
  if (depth === 'long') process.stderr.write(`${line}\n`);
}

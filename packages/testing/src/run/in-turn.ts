import { byDepth } from './depth.ts';

interface Turn {
  readonly index: number;
  /** The number of subjects. */
  readonly of: number;
}

/**
 * The values for one of several test subjects. At the depths `full` and `long`, every subject has
 * all values. At depth `short`, the values are distributed: each subject has at least one, and
 * together the subjects have all.
 */
export function inTurn<T>(values: readonly T[], { index, of }: Turn): readonly T[] {
  const own = values.filter((_, at) => at % of === index % Math.min(of, values.length));
  return byDepth({ short: own, full: values, long: values });
}

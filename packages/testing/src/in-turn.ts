import { byDepth } from './depth.ts';

interface Turn {
  readonly index: number;
  /** How many indexes there are. */
  readonly of: number;
}

/**
 * The values that one of several subjects meets. At the depths `full` and `long` it meets all of them. At depth `short` the
 * values go around: each subject meets at least one of them, and together the subjects meet all.
 */
export function inTurn<T>(values: readonly T[], { index, of }: Turn): readonly T[] {
  const own = values.filter((_, at) => at % of === index % Math.min(of, values.length));
  return byDepth({ short: own, full: values, long: values });
}

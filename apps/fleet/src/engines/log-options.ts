/** Which lines of a log are wanted. */
export interface LogOptions {
  /** How many of the last lines; at most 10 000, which is also what is given where nothing is said. */
  readonly tail?: number;
  readonly since?: Date;
  /** Goes on with what is written, until the container ends or the caller stops. */
  readonly follow?: boolean;
  /** Ends it at any time, also while nothing is written. */
  readonly signal?: AbortSignal;
}

export const MOST_LINES = 10_000;
export const MAX_LINE = 16_384;

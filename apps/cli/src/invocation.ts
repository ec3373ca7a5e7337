import type { ConsentOptions } from './consent.ts';
import type { ExitCode } from './errors.ts';
import type { Format } from './output.ts';
import type { TargetOptions } from './target.ts';

/** The options of all commands. */
export interface Common extends TargetOptions, ConsentOptions {
  readonly output: Format;
}

/** Performs a command. Resolves to its exit code; undefined: 0. */
export type Action<O extends Common = Common> = (
  operands: readonly string[],
  options: O,
) => Promise<ExitCode | undefined>;

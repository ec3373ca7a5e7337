import fc from 'fast-check';
import { depth, seed } from './depth.ts';

/** How to repeat this run, for messages of failures. */
export const repeatHint = `To repeat this run, set TEST_SEED=${seed} and TEST_DEPTH=${depth}.`;

/**
 * Parameters for `fc.assert`: the seed of this run, and a reporter that states how to repeat it.
 */
export const seeded = <T>(parameters: fc.Parameters<T> = {}): fc.Parameters<T> => ({
  seed,
  reporter: (run) => {
    if (run.failed) throw new Error(`${repeatHint}\n${fc.defaultReportMessage(run)}`, { cause: run.errorInstance });
  },
  ...parameters,
});

/** Checks a synchronous property with the seed of this run. */
export function assertProperty<T>(property: fc.IRawProperty<T, false>, numRuns = 100): void {
  fc.assert(property, seeded({ numRuns }));
}

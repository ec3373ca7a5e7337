import fc from 'fast-check';
import { depth, seed } from './depth.ts';

/** How to repeat the generated input of this run, for the message of a failure. */
export const toRepeat = `To repeat this run, set TEST_SEED=${seed} and TEST_DEPTH=${depth}.`;

/** Parameters for `fc.assert`: the seed of this run, and a failure that tells how to repeat it. */
export const seeded = <T>(parameters: fc.Parameters<T> = {}): fc.Parameters<T> => ({
  seed,
  reporter: (run) => {
    if (run.failed) throw new Error(`${toRepeat}\n${fc.defaultReportMessage(run)}`, { cause: run.errorInstance });
  },
  ...parameters,
});

/** Checks a synchronous property with input that the seed of this run generates. */
export function assertProperty<T>(property: fc.IRawProperty<T, false>, numRuns = 100): void {
  fc.assert(property, seeded({ numRuns }));
}

import fc from 'fast-check';
import { depth, seed } from './depth.ts';

/** How to repeat the generated input of this run, for the message of a failure. */
export const toRepeat = `To repeat this run, set TEST_SEED=${seed} and TEST_DEPTH=${depth}.`;

/** Checks a property with input that the seed of this run generates. @throws an error that tells how to repeat it */
export function assertProperty<T>(property: fc.IRawProperty<T, false>, numRuns = 100): void {
  fc.assert(property, {
    seed,
    numRuns,
    reporter: (run) => {
      if (run.failed) throw new Error(`${toRepeat}\n${fc.defaultReportMessage(run)}`, { cause: run.errorInstance });
    },
  });
}

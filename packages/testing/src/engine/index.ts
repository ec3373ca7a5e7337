import { describe } from '@jest/globals';
import { engineProblem } from './at-hand.ts';
import { engineKind } from './start.ts';

export { engineProblem, programAt } from './at-hand.ts';
export { busyboxTar } from './image.ts';
export { importPrograms } from './program-image.ts';
export { engineKind, startEngine, type TestEngine } from './start.ts';

/**
 * Tests that need a real engine. If none is available, they are skipped, with the reason in their
 * title, or fail if `TEST_ENGINES=required` is set. `others` are further programs that they need.
 */
export function describeWithEngine(title: string, tests: () => void, others: readonly string[] = []): void {
  const problem = engineProblem(engineKind(), others);
  if (problem === undefined || process.env.TEST_ENGINES === 'required') describe(title, tests);
  else describe.skip(`${title} (skipped: ${problem})`, tests);
}

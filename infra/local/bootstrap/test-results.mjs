import { existsSync, readFileSync } from 'node:fs';

/**
 * Summarizes the Jest results of a package. A suite that did not run counts as one failed test, and so does a package
 * without results, or whose run failed for another reason than a test.
 */
export function readResults({ name, results }) {
  const none = { passed: 0, failed: 1, skipped: 0, skippedTests: [], files: [] };
  if (!existsSync(results)) return { ...none, problems: [`${name} wrote no test results`] };
  const run = JSON.parse(readFileSync(results, 'utf8'));
  const brokenSuites = run.testResults.filter(
    (suite) => suite.status === 'failed' && suite.assertionResults.length === 0,
  );
  const tests = run.testResults.flatMap((suite) => suite.assertionResults);
  const named = (statuses) =>
    tests.filter((test) => statuses.includes(test.status)).map((test) => `${name}: ${test.fullName}`);
  const problems = [...brokenSuites.map((suite) => `${name}: ${suite.name} did not run`), ...named(['failed'])];
  const failed = run.numFailedTests + Math.max(run.numRuntimeErrorTestSuites, brokenSuites.length);
  if (!run.success && failed === 0) {
    return { ...none, passed: run.numPassedTests, problems: [`${name}: Jest failed without a failed test`] };
  }
  return {
    passed: run.numPassedTests,
    failed,
    skipped: run.numPendingTests + run.numTodoTests,
    skippedTests: named(['pending', 'todo', 'skipped', 'disabled']),
    problems,
    files: run.testResults.map(({ name: file, startTime, endTime }) => ({
      name: file,
      seconds: Math.round((endTime - startTime) / 100) / 10,
    })),
  };
}

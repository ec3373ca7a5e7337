import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { run } from './command.mjs';

const RUN_TIMEOUT_MS = 8 * 60_000;

/**
 * Runs the test files of one package that match `patterns`.
 * @returns `passed`, the number of tests that passed; `failures`, the tests that failed as `file › title`; `problem`, why
 * the run is not conclusive (undefined if each pattern ran at least one file to its end). With `isFirstFailureEnough`, Jest
 * ends after the first file with a failed test, and the other files count as a problem.
 */
export async function runTests(
  folder,
  { directory, patterns },
  { env, signal, isFirstFailureEnough = false, timeoutMs = RUN_TIMEOUT_MS },
) {
  const cwd = path.join(folder, directory);
  const file = path.join(cwd, 'test-results.json');
  rmSync(file, { force: true });
  // The test script of the package, without pnpm, which would run it in another process group.
  const { scripts } = JSON.parse(readFileSync(path.join(cwd, 'package.json'), 'utf8'));
  const command = ['-c', `${scripts.test} "$@"`, 'sh', ...(isFirstFailureEnough ? ['--bail'] : []), ...patterns];
  const { output, timedOut } = await run('sh', command, {
    cwd,
    env: { ...env, ...(isFirstFailureEnough && { TEST_ORDER: 'fastest' }) },
    signal,
    timeoutMs,
  });
  const nothing = { passed: 0, failures: [] };
  if (timedOut) return { ...nothing, problem: `the tests did not finish within ${Math.round(timeoutMs / 1000)} s` };
  if (!existsSync(file)) return { ...nothing, problem: `Jest wrote no results:\n${output.slice(-4000)}` };
  return resultsIn(JSON.parse(readFileSync(file, 'utf8')), { folder, cwd, patterns });
}

function resultsIn({ testResults, numPassedTests }, { folder, cwd, patterns }) {
  const failures = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName }) => `${path.relative(folder, name)} › ${fullName}`),
  );
  const notRun = testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  );
  const unmatched = patterns.filter(
    (pattern) => !testResults.some(({ name }) => new RegExp(pattern).test(path.relative(cwd, name))),
  );
  const problems = [
    ...notRun.map(({ name, message }) => `${path.relative(folder, name)} did not run:\n${message}`),
    ...unmatched.map((pattern) => `no test file of ${path.relative(folder, cwd)} matches ${pattern}`),
  ];
  return { passed: numPassedTests, failures, problem: problems.length > 0 ? problems.join('\n') : undefined };
}

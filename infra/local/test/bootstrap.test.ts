import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

const folder = path.resolve(import.meta.dirname, '..');
const module = (name: string) => JSON.stringify(pathToFileURL(path.join(folder, 'bootstrap', name)).href);

/** Runs a module in its own Node process, like the bootstrap. @returns its output */
function evaluate(script: string) {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  if (stderr) throw new Error(stderr);
  return stdout.trim();
}

test.each([
  ['8.17.0', false],
  ['18.20.8', false],
  ['20.18.3', false],
  ['20.19.0', true],
  ['22.0.0', true],
  ['24.1.0', true],
])('Node %s is supported: %s', (version, isSupported) => {
  const script = `import { nodeProblem } from ${module('node-version.mjs')}; console.log(nodeProblem('${version}') ?? '');`;
  const problem = `Node 20.19 or later is required, but this is Node ${version}. Install a newer version from https://nodejs.org.`;
  expect(evaluate(script)).toBe(isSupported ? '' : problem);
});

test('an unknown command is rejected with the known commands', () => {
  const { status, stderr } = spawnSync(process.execPath, [path.join(folder, 'bootstrap.mjs'), 'serve'], {
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([2, 'Unknown command serve. Use start or test.\n']);
});

let results: string;
beforeEach(() => {
  results = path.join(fs.mkdtempSync(path.join(tmpdir(), 'results-')), 'test-results.json');
});
afterEach(() => fs.rmSync(path.dirname(results), { recursive: true }));

function read(): Record<string, unknown> {
  const one = JSON.stringify({ name: '@svc/x', results });
  return JSON.parse(
    evaluate(
      `import { readResults } from ${module('test-results.mjs')}; console.log(JSON.stringify(readResults(${one})));`,
    ),
  );
}

const aRun = {
  success: true,
  numPassedTests: 3,
  numFailedTests: 0,
  numPendingTests: 0,
  numTodoTests: 0,
  numRuntimeErrorTestSuites: 0,
  testResults: [],
};

test('passed, failed and skipped tests are counted, and failed and skipped tests are listed', () => {
  const assertionResults = [
    { status: 'pending', fullName: 'is skipped' },
    { status: 'todo', fullName: 'is not written' },
    { status: 'passed', fullName: 'works' },
    { status: 'failed', fullName: 'fails' },
  ];
  const testResults = [{ name: 'x.test.ts', status: 'failed', assertionResults }];
  const run = { ...aRun, success: false, numFailedTests: 1, numPendingTests: 1, numTodoTests: 1, testResults };
  fs.writeFileSync(results, JSON.stringify(run));
  expect(read()).toEqual({
    passed: 3,
    failed: 1,
    skipped: 2,
    skippedTests: ['@svc/x: is skipped', '@svc/x: is not written'],
    problems: ['@svc/x: fails'],
  });
});

test('a suite that did not run counts as a failed test', () => {
  const testResults = [{ name: 'broken.test.ts', status: 'failed', assertionResults: [] }];
  fs.writeFileSync(results, JSON.stringify({ ...aRun, success: false, numRuntimeErrorTestSuites: 1, testResults }));
  expect(read()).toMatchObject({ passed: 3, failed: 1, problems: ['@svc/x: broken.test.ts did not run'] });
});

test('a package without results counts as a failed test', () => {
  expect(read()).toMatchObject({ passed: 0, failed: 1, problems: ['@svc/x wrote no test results'] });
});

test('a run that failed without a failed test counts as a failed test', () => {
  fs.writeFileSync(results, JSON.stringify({ ...aRun, success: false }));
  expect(read()).toMatchObject({ passed: 3, failed: 1 });
});

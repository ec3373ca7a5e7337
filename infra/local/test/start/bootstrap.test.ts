import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

const folder = path.resolve(import.meta.dirname, '../..');
const module = (name: string) => JSON.stringify(pathToFileURL(path.join(folder, 'bootstrap', name)).href);

const depthModule = JSON.stringify(pathToFileURL(path.resolve(folder, '../jest/depth.mjs')).href);

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
  ['26.1.0', true],
])('Node %s can run the bootstrap: %s', (version, isSupported) => {
  const script = `import { bootstrapProblem } from ${module('node-version.mjs')}; console.log(bootstrapProblem('${version}') ?? '');`;
  const problem = `Node 20.19.0 or later is required, but this is Node ${version}. Install a newer version from https://nodejs.org.`;
  expect(evaluate(script)).toBe(isSupported ? '' : problem);
});

test.each([
  ['22.18.0', false],
  ['22.19.0', true],
  ['24.0.0', true],
])('Node %s is at or above the floor: %s', (version, isSupported) => {
  const script = `import { FLOOR, isAtLeast } from ${module('node-version.mjs')}; console.log(isAtLeast('${version}', FLOOR));`;
  expect(evaluate(script)).toBe(`${isSupported}`);
});

/** Chooses the Node of a repository without installed programs of Node, as a process of this version. */
function chosenNode(version: string, env: Record<string, string>) {
  const root = fs.mkdtempSync(path.join(tmpdir(), 'repository-'));
  fs.cpSync(path.resolve(folder, '../node/package.json'), path.join(root, 'infra/node/package.json'));
  try {
    return evaluate(`
      Object.defineProperty(process.versions, 'node', { value: '${version}' });
      const { chooseNode } = await import(${module('pinned-node.mjs')});
      try {
        console.log(chooseNode(${JSON.stringify(root)}, ${JSON.stringify(env)}) === process.execPath);
      } catch (error) {
        console.log(error.message);
      }`);
  } finally {
    fs.rmSync(root, { recursive: true });
  }
}

test('without a program of Node for the platform, the own Node is used from the floor on', () => {
  expect(chosenNode('22.19.0', {})).toBe('true');
  const platform = `${process.platform} on ${process.arch}`;
  expect(chosenNode('20.19.0', {})).toMatch(
    new RegExp(
      `^Node 22\\.19\\.0 or later is required, but this is Node 20\\.19\\.0, and the registry has no Node for ${platform}\\. Install Node 26\\.\\S+ from https://nodejs\\.org\\.$`,
    ),
  );
});

test('SVC_NODE=system selects the own Node, and rejects one below the floor', () => {
  expect(chosenNode('24.0.0', { SVC_NODE: 'system' })).toBe('true');
  expect(chosenNode('22.18.0', { SVC_NODE: 'system' })).toContain('SVC_NODE=system selects this version');
  expect(chosenNode('24.0.0', { SVC_NODE: 'yes' })).toBe('SVC_NODE must be "system" or unset, but it is "yes".');
});

test('an unknown command is rejected with the known commands', () => {
  const { status, stderr } = spawnSync(process.execPath, [path.join(folder, 'bootstrap.mjs'), 'serve'], {
    encoding: 'utf8',
  });
  expect(stderr).toBe('Unknown command serve. Use start, test or env.\n');
  expect(status).toBe(2);
});

test('npm test at depth short leaves out two of the three rotated files, and other depths leave out none', () => {
  const files = ['process', 'hostile', 'refusals'].map((name) => `/repository/apps/hub/test/${name}.test.ts`);
  const kept = (env: Record<string, string>) =>
    evaluate(`
      const { leftOutPattern } = await import(${depthModule});
      const leftOut = new RegExp(leftOutPattern(${JSON.stringify(env)}));
      console.log(${JSON.stringify(files)}.filter((file) => !leftOut.test(file)).join());`);
  expect(['0', '1', '2', '3'].map((number) => kept({ TEST_ROTATION: number }))).toEqual([...files, files[0]]);
  expect(kept({})).toBe(files.join());
  expect(kept({ TEST_ROTATION: '0', TEST_DEPTH: 'ci' })).toBe(files.join());
  expect(kept({ TEST_ROTATION: '0', TEST_DEPTH: 'full' })).toBe(files.join());
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
  const testResults = [{ name: 'x.test.ts', status: 'failed', assertionResults, startTime: 1000, endTime: 2540 }];
  const run = { ...aRun, success: false, numFailedTests: 1, numPendingTests: 1, numTodoTests: 1, testResults };
  fs.writeFileSync(results, JSON.stringify(run));
  expect(read()).toEqual({
    passed: 3,
    failed: 1,
    skipped: 2,
    skippedTests: ['@svc/x: is skipped', '@svc/x: is not written'],
    problems: ['@svc/x: fails'],
    files: [{ name: 'x.test.ts', seconds: 1.5 }],
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

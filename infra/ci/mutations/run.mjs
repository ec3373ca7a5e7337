// Checks the tests: applies known faults, one at a time, to a copy of the repository, and requires that a test fails.
//   node infra/ci/mutations/run.mjs [--only <name or number>]... [--no-baseline]
import path from 'node:path';
import { parseArgs } from 'node:util';
import { CheckFailed, interruption, reporting } from './command.mjs';
import { applyMutation, problemsOf } from './edits.mjs';
import { runTests } from './jest.mjs';
import { mutations } from './mutations.mjs';
import { compile, withScratch } from './scratch.mjs';

const root = path.resolve(import.meta.dirname, '..', '..', '..');
const numbered = mutations.map((mutation, index) => ({ ...mutation, number: index + 1 }));

async function main() {
  const { values } = parseArgs({
    options: { only: { type: 'string', multiple: true }, 'no-baseline': { type: 'boolean' } },
  });
  const selected = select(values.only);
  const outdated = problemsOf(root, selected);
  if (outdated.length > 0) {
    throw new CheckFailed(`The sources have changed. Update infra/ci/mutations/mutations.mjs:\n${outdated.join('\n')}`);
  }
  const signal = interruption();
  const env = { ...process.env, CI: '1', TEST_DEPTH: 'short', NO_COLOR: '1', TURBO_TELEMETRY_DISABLED: '1' };
  delete env.FORCE_COLOR;
  console.log('Preparing a copy of the repository.');
  const results = await withScratch({ root, env, signal }, async (folder, options) => {
    if (!values['no-baseline']) await requirePassing(folder, selected, options);
    const checked = [];
    for (const mutation of selected) checked.push(await check(folder, mutation, options));
    return checked;
  });
  report(results);
}

/** The mutations of `--only`, or all. */
function select(only) {
  if (!only) return numbered;
  return only.map((one) => {
    const found = numbered.find(({ name, number }) => name === one || String(number) === one);
    if (found) return found;
    const known = numbered.map(({ name, number }) => `${number} ${name}`);
    throw new CheckFailed(`Unknown mutation "${one}". Known mutations:\n${known.join('\n')}`);
  });
}

/** @throws CheckFailed unless all selected tests pass without a mutation */
async function requirePassing(folder, selected, options) {
  const started = performance.now();
  for (const each of byPackage(selected.flatMap(({ tests }) => tests))) {
    const { failures, problem } = await runTests(folder, each, options);
    const problems = [...failures, ...(problem ? [problem] : [])];
    if (problems.length > 0) throw new CheckFailed(`The tests do not pass without a mutation:\n${problems.join('\n')}`);
  }
  console.log(`All selected tests pass without a mutation (${secondsSince(started)} s).`);
}

/** Groups tests by package. Each package has one Jest run. */
function byPackage(tests) {
  const directories = [...new Set(tests.map((test) => test.package))];
  return directories.map((directory) => ({
    directory,
    patterns: [...new Set(tests.filter((test) => test.package === directory).map(({ pattern }) => pattern))],
  }));
}

/** Applies a mutation and runs its tests. */
async function check(folder, mutation, options) {
  const { number, name } = mutation;
  const started = performance.now();
  const restore = applyMutation(folder, mutation);
  try {
    const outcome = await outcomeOf(folder, mutation, options);
    const result = { number, name, ...outcome, seconds: secondsSince(started) };
    console.log(`\n${number}. ${name}: ${result.verdict} (${result.seconds} s)`);
    for (const line of shortened(result.details)) console.log(`   ${line.trimEnd().replaceAll('\n', '\n   ')}`);
    return result;
  } finally {
    restore();
  }
}

const MAX_LINES = 5;

const shortened = (lines) =>
  lines.length <= MAX_LINES ? lines : [...lines.slice(0, MAX_LINES), `and ${lines.length - MAX_LINES} more`];

/** `caught` if a test fails. A source that does not compile, or a test file that does not run, is not conclusive. */
async function outcomeOf(folder, { tests }, options) {
  const compiled = await compile(folder, options);
  if (compiled.code !== 0) return { verdict: 'DOES NOT COMPILE', details: [compiled.output] };
  const runs = [];
  for (const each of byPackage(tests)) runs.push(await runTests(folder, each, options));
  const failures = runs.flatMap((one) => one.failures);
  if (failures.length > 0) return { verdict: 'caught', details: failures };
  const problems = runs.flatMap(({ problem }) => (problem ? [problem] : []));
  if (problems.length > 0) return { verdict: 'TESTS DID NOT RUN', details: problems };
  const passed = runs.reduce((sum, one) => sum + one.passed, 0);
  return { verdict: 'SURVIVED', details: [`${passed} tests passed`] };
}

function report(results) {
  const rows = results.map(({ number, name, verdict, details, seconds }) => {
    const more = details.length > 1 ? ` (and ${details.length - 1} more)` : '';
    return [String(number), name, String(seconds), verdict === 'caught' ? `${details[0]}${more}` : verdict];
  });
  const table = [['#', 'mutation', 'seconds', 'caught by'], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...table.map((row) => row[column].length)));
  console.log();
  for (const row of table) console.log(row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  const caught = results.filter(({ verdict }) => verdict === 'caught').length;
  console.log(`\n${caught} of ${results.length} mutations are caught.`);
  if (caught < results.length) process.exitCode = 1;
}

const secondsSince = (started) => Math.round((performance.now() - started) / 1000);

await reporting(main);

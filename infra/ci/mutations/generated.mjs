// Checks the tests of the files that state who may see and do what: changes their operators and conditions, one at a time,
// in a copy of the repository, and requires that one of the nearest tests fails, or that the change is listed as equivalent.
//   node infra/ci/mutations/generated.mjs [--file <path>]... [--lines <number or range>] [--guards] [--list]
//   node infra/ci/mutations/generated.mjs --check    checks only that the listed changes exist
// `--guards`: only removes guards (`if (...) throw ...`), in the files of which each guard must be tested.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../../../packages/database/src/embedded.ts';
import { CheckFailed, interruption, reporting } from './command.mjs';
import { mutantsOf } from './generate.mjs';
import { runTests } from './jest.mjs';
import { withScratch } from './scratch.mjs';
import { equivalents, targets } from './targets.mjs';

const root = path.resolve(import.meta.dirname, '..', '..', '..');

async function main() {
  const { values } = parseArgs({
    options: {
      file: { type: 'string', multiple: true },
      lines: { type: 'string' },
      guards: { type: 'boolean', default: false },
      list: { type: 'boolean' },
      check: { type: 'boolean' },
    },
  });
  requireCurrentEquivalents();
  if (values.check) return;
  const isWithin = rangeOf(values.lines);
  const selected = targets
    .filter(({ file, guards = false }) => values.file?.includes(file) ?? (guards || !values.guards))
    .flatMap(({ file, tests }) => mutantsOf(root, file).map((mutant) => ({ ...mutant, tests })))
    .filter(({ line, removesGuard = false }) => isWithin(line) && (removesGuard || !values.guards));
  const mutants = selected.filter((mutant) => !isEquivalent(mutant));
  const left = selected.length - mutants.length;
  console.log(`${mutants.length} changes to check, ${left} listed as equivalent`);
  if (values.list) return console.log(mutants.map(nameOf).join('\n'));
  const survivors = await survivorsOf(mutants);
  for (const survivor of survivors) console.log(`survived: ${nameOf(survivor)}   ${survivor.source}`);
  console.log(`${mutants.length - survivors.length} of ${mutants.length} changes are caught.`);
  if (survivors.length > 0) process.exitCode = 1;
}

/** The lines that `--lines` selects, such as `53` or `50-60`; without it, all. */
function rangeOf(lines) {
  if (lines === undefined) return () => true;
  const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(lines) ?? [];
  if (first === undefined) throw new CheckFailed('--lines must be a number or a range, such as 53 or 50-60.');
  return (line) => line >= Number(first) && line <= Number(last);
}

const nameOf = ({ file, line, change }) => `${file}:${line} ${change}`;

const isEquivalent = (mutant) =>
  equivalents.some(
    ({ file, source, change }) => file === mutant.file && source === mutant.source && change === mutant.change,
  );

/** @throws CheckFailed if a listed change does not exist any longer */
function requireCurrentEquivalents() {
  const known = targets.flatMap(({ file }) => mutantsOf(root, file));
  const outdated = equivalents.filter(
    (one) =>
      !known.some(({ file, source, change }) => file === one.file && source === one.source && change === one.change),
  );
  if (outdated.length === 0) return;
  throw new CheckFailed(
    `Remove these entries of infra/ci/mutations/targets.mjs, whose lines have changed:\n${outdated.map(({ file, source }) => `${file}: ${source}`).join('\n')}`,
  );
}

async function survivorsOf(mutants) {
  const signal = interruption();
  const server = await startEmbeddedPostgres();
  const env = {
    ...process.env,
    CI: '1',
    TEST_DEPTH: 'short',
    NO_COLOR: '1',
    TEST_POSTGRES_URL: server.url('postgres'),
  };
  delete env.FORCE_COLOR;
  try {
    return await withScratch({ root, env, signal }, async (folder, options) => {
      const timeouts = await requirePassing(folder, mutants, options);
      const survivors = [];
      for (const mutant of mutants) {
        const timeoutMs = timeouts.get(mutant.tests);
        if (!(await isCaught(folder, mutant, { ...options, timeoutMs }))) survivors.push(mutant);
      }
      return survivors;
    });
  } finally {
    await server.stop();
  }
}

/** A change that causes an endless loop ends after this multiple of the duration of the tests without a change. */
const MAX_SLOWDOWN = 4;

/**
 * @returns for each group of tests how long it can take with a change. @throws CheckFailed unless the tests pass without a
 * change
 */
async function requirePassing(folder, mutants, options) {
  const timeouts = new Map();
  for (const tests of new Set(mutants.map((mutant) => mutant.tests))) {
    const startedAt = performance.now();
    const { failures, problem } = await runTests(folder, tests, options);
    const problems = [...failures, ...(problem ? [problem] : [])];
    if (problems.length > 0) throw new CheckFailed(`The tests do not pass without a change:\n${problems.join('\n')}`);
    timeouts.set(tests, MAX_SLOWDOWN * (performance.now() - startedAt));
  }
  return timeouts;
}

/** Whether a test fails, or cannot run, with the change. Jest ends after the first file with a failed test. */
async function isCaught(folder, mutant, options) {
  const target = path.join(folder, mutant.file);
  const original = readFileSync(target, 'utf8');
  writeFileSync(target, original.slice(0, mutant.start) + mutant.replacement + original.slice(mutant.end));
  try {
    const { failures, problem } = await runTests(folder, mutant.tests, { ...options, isFirstFailureEnough: true });
    const caught = failures.length > 0 || problem !== undefined;
    console.log(`${caught ? 'caught' : 'SURVIVED'}  ${nameOf(mutant)}`);
    return caught;
  } finally {
    writeFileSync(target, original);
  }
}

await reporting(main);

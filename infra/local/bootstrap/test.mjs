import { existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { leftOutPattern, rotationOfToday } from '../../jest/depth.mjs';
import { writeFullRun } from './full-run.mjs';
import { CommandFailed, commandLine, Interrupted } from './processes.mjs';
import { readResults } from './test-results.mjs';

/** Number of packages that are tested concurrently. Each has its own Jest workers. On two processors, more packages take longer. */
const CONCURRENT_PACKAGES = 2;

const root = path.resolve(import.meta.dirname, '..', '..', '..');
const shell = commandLine(root);
try {
  await runTests(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof CommandFailed || error instanceof Interrupted ? error.message : error);
  process.exitCode = error.exitCode ?? 1;
} finally {
  shell.close();
}

/**
 * Runs the tests of all packages, or of those that arguments for turbo in `rest` select, with one PostgreSQL server.
 * Packages with cached results do not run again. The last line of the output is the sum of all results, including
 * cached ones. install.mjs has installed the dependencies and set PATH.
 */
async function runTests(rest) {
  const rotation = process.env.TEST_ROTATION ?? rotationOfToday();
  const env = { ...process.env, TEST_NODE_VERSION: process.version, TEST_ROTATION: rotation }; // part of turbo's cache key
  const turbo = (args, options) => shell.run('turbo', ['run', ...args], { env, ...options });
  const plan = JSON.parse(await turbo(['test', '--dry=json', ...rest], { output: 'captured' }));
  const tests = plan.tasks.filter(({ task, command }) => task === 'test' && command !== '<NONEXISTENT>');
  const packages = tests.map(({ package: name, directory }) => ({
    name,
    results: path.join(root, directory, 'test-results.json'),
    leftOut: leftOutFiles(path.join(root, directory, 'test'), leftOutPattern(env)),
  }));
  for (const { results } of packages) rmSync(results, { force: true }); // turbo restores cached ones

  const args = [
    'test',
    `--concurrency=${CONCURRENT_PACKAGES}`,
    '--continue=dependencies-successful',
    '--output-logs=new-only',
    ...rest,
  ];
  const isCached = tests.every(({ cache }) => cache.status === 'HIT');
  const server = isCached ? undefined : await startPostgres(turbo);
  try {
    await turbo(args, { output: 'shown', env: server ? { ...env, TEST_POSTGRES_URL: server.url('postgres') } : env });
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    process.exitCode = error.exitCode;
  } finally {
    await server?.stop();
  }
  const leftOut = packages.flatMap((one) => one.leftOut);
  if (leftOut.length > 0) console.log(`not run at this depth: ${leftOut.join(', ')}`);
  if (rotation) console.log(`to repeat this selection of rotated files, set TEST_ROTATION=${rotation}`);
  const results = packages.map(readResults);
  const isComplete = process.env.TEST_DEPTH === 'full' && rest.length === 0;
  report(results, { isComplete });
}

/** The test files in a folder that `infra/jest/preset.mjs` leaves out. @returns paths relative to the repository */
function leftOutFiles(folder, pattern) {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder, { recursive: true }).map((file) => path.join(folder, file));
  const leftOut = new RegExp(pattern);
  return files.filter((file) => leftOut.test(file)).map(relative);
}

async function startPostgres(turbo) {
  await turbo(['build', '--filter=@svc/database', '--output-logs=errors-only'], { output: 'captured' });
  const { startEmbeddedPostgres } = await import('@svc/database/embedded');
  return startEmbeddedPostgres();
}

/** Prints the skipped and failed tests, and the sum as the last line. Records a complete run without failures. */
function report(results, { isComplete }) {
  const sum = (member) => results.reduce((total, one) => total + one[member], 0);
  const passed = sum('passed');
  const skipped = sum('skipped');
  for (const skippedTest of results.flatMap((one) => one.skippedTests)) console.log(`skipped: ${skippedTest}`);
  for (const problem of results.flatMap((one) => one.problems)) console.log(`failed: ${problem}`);
  if (sum('failed') > 0) process.exitCode ||= 1;
  if (isComplete && !process.exitCode) {
    const seconds = Object.fromEntries(
      results.flatMap((one) => one.files.map((file) => [relative(file.name), file.seconds])).sort(),
    );
    const problem = writeFullRun(root, { passed, skipped, seconds });
    console.log(problem ? `not recorded as a complete run: ${problem}` : 'recorded in infra/ci/full-run.json');
  }
  console.log(`${passed} passed, ${sum('failed')} failed, ${skipped} skipped`);
}

function relative(file) {
  return path.relative(root, file).split(path.sep).join('/');
}

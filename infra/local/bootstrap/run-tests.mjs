import { rmSync } from 'node:fs';
import path from 'node:path';
import { CommandFailed } from './processes.mjs';
import { readResults } from './test-results.mjs';

/** How many packages are tested at once. Each of them has Jest workers of its own. */
const PACKAGES_AT_ONCE = 2;

/**
 * Runs the tests of every package, or of those that turbo's arguments in `rest` select, against one PostgreSQL server.
 * Packages whose results turbo has cached do not run again. The last line is the sum of all results, cached ones included.
 */
export async function runTests({ root, shell, env: given, rest }) {
  const env = { ...given, TEST_NODE_VERSION: process.version }; // part of turbo's cache key
  const turbo = (args, options) => shell.run('turbo', ['run', ...args], { env, ...options });
  const plan = JSON.parse(await turbo(['test', '--dry=json', ...rest], { output: 'kept' }));
  const tests = plan.tasks.filter(({ task, command }) => task === 'test' && command !== '<NONEXISTENT>');
  const packages = tests.map(({ package: name, directory }) => ({
    name,
    results: path.join(root, directory, 'test-results.json'),
  }));
  for (const { results } of packages) rmSync(results, { force: true }); // turbo restores those that it has cached

  const args = [
    'test',
    `--concurrency=${PACKAGES_AT_ONCE}`,
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
  report(packages.map(readResults));
}

async function startPostgres(turbo) {
  await turbo(['build', '--filter=@svc/database', '--output-logs=errors-only'], { output: 'kept' });
  const { startEmbeddedPostgres } = await import('@svc/database/embedded');
  return startEmbeddedPostgres();
}

function report(results) {
  const sum = (member) => results.reduce((total, one) => total + one[member], 0);
  for (const skipped of results.flatMap((one) => one.skippedTests)) console.log(`skipped: ${skipped}`);
  for (const problem of results.flatMap((one) => one.problems)) console.log(`failed: ${problem}`);
  if (sum('failed') > 0) process.exitCode ||= 1;
  console.log(`${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped`);
}

import { rmSync } from 'node:fs';
import path from 'node:path';
import { CommandFailed } from './processes.mjs';
import { readResults } from './test-results.mjs';

/**
 * Runs the tests of every package (or those that turbo's arguments in `rest` select) against one PostgreSQL, and ends
 * with one line that adds them up.
 */
export async function runTests({ root, shell, env, rest }) {
  const turbo = (args, options) => shell.run('turbo', ['run', ...args], { env, ...options });
  const plan = JSON.parse(await turbo(['test', '--dry=json', ...rest], { output: 'kept' }));
  const packages = plan.tasks
    .filter(({ task, command }) => task === 'test' && command !== '<NONEXISTENT>')
    .map(({ package: name, directory }) => ({ name, results: path.join(root, directory, 'test-results.json') }));
  // What counts is what this run writes, or what turbo brings back for a package that has not changed.
  for (const { results } of packages) rmSync(results, { force: true });

  await turbo(['build', '--filter=@svc/database', '--output-logs=errors-only'], { output: 'kept' });
  const { startEmbeddedPostgres } = await import('@svc/database/embedded');
  const server = await startEmbeddedPostgres();
  try {
    await turbo(['test', '--concurrency=2', '--continue=dependencies-successful', '--output-logs=new-only', ...rest], {
      output: 'shown',
      env: { ...env, TEST_POSTGRES_URL: server.url('postgres') },
    });
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    process.exitCode = error.exitCode;
  } finally {
    await server.stop();
  }
  report(packages.map(readResults));
}

function report(results) {
  const sum = (member) => results.reduce((total, one) => total + one[member], 0);
  for (const skipped of results.flatMap((one) => one.skippedTests)) console.log(`skipped: ${skipped}`);
  for (const problem of results.flatMap((one) => one.problems)) console.log(`failed: ${problem}`);
  if (sum('failed') > 0) process.exitCode ||= 1;
  console.log(`${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped`);
}

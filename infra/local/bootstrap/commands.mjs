import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { CommandFailed, commandLine, Interrupted } from './processes.mjs';
import { runTests } from './run-tests.mjs';

const root = path.resolve(import.meta.dirname, '..', '..', '..');
const commands = { start, test: runTests };

/** Runs `start` or `test` with everything that has to be there first. Sets the exit code. */
export async function main([name, ...rest]) {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) {
    console.error(`There is no command ${name}: use start or test.`);
    process.exitCode = 2;
    return;
  }
  const shell = commandLine(root);
  try {
    const env = await install(shell);
    await command({ root, shell, env, rest });
  } catch (error) {
    const isExpected = error instanceof CommandFailed || error instanceof Interrupted;
    console.error(isExpected ? error.message : error);
    process.exitCode = error.exitCode ?? 1;
  } finally {
    shell.close();
  }
}

/** Installs the dependencies with the pinned pnpm. Answers the environment in which `pnpm` and `turbo` are found. */
async function install(shell) {
  const { packageManager } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const pnpm = packageManager.split('+')[0]; // a checksum may follow the version
  const env = {
    ...process.env,
    CI: process.env.CI || '1', // no prompt, no progress bars
    DO_NOT_TRACK: '1',
    CHECKPOINT_DISABLE: '1',
    TURBO_TELEMETRY_DISABLED: '1',
    TURBO_NO_UPDATE_NOTIFIER: '1',
  };
  if (!existsSync(path.join(root, 'node_modules'))) console.log('Installing the dependencies; the next time is quick.');
  // npx puts pnpm on the PATH of what it runs; what is asked here is that PATH, so that npx itself need not stay.
  const npx = ['--yes', '--prefer-offline', `--package=${pnpm}`, '--', 'node', '-p', 'process.env.PATH'];
  const found = await shell.run('npx', npx, { env, output: 'kept' });
  env.PATH = [path.join(root, 'node_modules', '.bin'), found.trim()].join(path.delimiter);
  const options = ['--frozen-lockfile', '--prefer-offline', '--reporter=append-only', '--loglevel=warn'];
  await shell.run('pnpm', ['install', ...options], { env, output: 'kept' });
  return env;
}

async function start({ shell, env }) {
  await shell.run('turbo', ['run', 'build', '--filter=@svc/local...', '--output-logs=errors-only'], {
    env,
    output: 'kept',
  });
  shell.close();
  await import('../dist/main.js');
}

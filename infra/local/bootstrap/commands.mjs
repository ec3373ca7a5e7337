import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { CommandFailed, commandLine, Interrupted } from './processes.mjs';
import { runTests } from './run-tests.mjs';

const root = path.resolve(import.meta.dirname, '..', '..', '..');
const commands = { start, test: runTests };

/** Installs the dependencies, and runs `start` or `test`. Sets the exit code. */
export async function main([name, ...rest]) {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) {
    console.error(`Unknown command ${name}. Use start or test.`);
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

/** Installs the dependencies with the pinned pnpm. Resolves to an environment whose PATH contains `pnpm` and `turbo`. */
async function install(shell) {
  const { packageManager } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const pnpm = packageManager.split('+')[0]; // a checksum can follow the version
  const env = {
    ...process.env,
    CI: process.env.CI || '1', // no prompts and no progress bars
    DO_NOT_TRACK: '1',
    CHECKPOINT_DISABLE: '1',
    TURBO_TELEMETRY_DISABLED: '1',
    TURBO_NO_UPDATE_NOTIFIER: '1',
  };
  if (!existsSync(path.join(root, 'node_modules'))) console.log('Installing the dependencies. Later runs are faster.');
  // npx adds pnpm to PATH of its command. Printing that PATH makes pnpm available without running npx again.
  const npx = ['--yes', '--prefer-offline', `--package=${pnpm}`, '--', 'node', '-p', 'process.env.PATH'];
  const pnpmPath = await shell.run('npx', npx, { env, output: 'captured' });
  env.PATH = [path.join(root, 'node_modules', '.bin'), pnpmPath.trim()].join(path.delimiter);
  const options = ['--frozen-lockfile', '--prefer-offline', '--reporter=append-only', '--loglevel=warn'];
  await shell.run('pnpm', ['install', ...options], { env, output: 'captured' });
  return env;
}

async function start({ shell, env }) {
  await shell.run('turbo', ['run', 'build', '--filter=@svc/local...', '--output-logs=errors-only'], {
    env,
    output: 'captured',
  });
  shell.close();
  await import('../dist/main.js');
}

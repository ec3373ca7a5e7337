import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { chooseNode } from './pinned-node.mjs';
import { CommandFailed, commandLine, Interrupted } from './processes.mjs';
import { step } from './steps.mjs';

const root = path.resolve(import.meta.dirname, '..', '..', '..');
const commands = { start, test, env };

/**
 * Installs the dependencies with the pinned pnpm, and runs a command with the Node that the repository selects. Sets
 * the exit code.
 */
export async function main([name, ...rest]) {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) {
    console.error(`Unknown command ${name}. Use start, test or env.`);
    process.exitCode = 2;
    return;
  }
  const shell = commandLine(root);
  try {
    await command(shell, rest);
  } catch (error) {
    const isExpected = error instanceof CommandFailed || error instanceof Interrupted;
    console.error(isExpected ? error.message : error);
    process.exitCode = error.exitCode ?? 1;
  } finally {
    shell.close();
  }
}

function start(shell, rest) {
  return runScript(shell, 'start.mjs', rest);
}

function test(shell, rest) {
  return runScript(shell, 'test.mjs', rest);
}

/** Prints a shell command that puts the selected Node, pnpm and turbo on PATH, for `eval`. */
async function env(shell) {
  const { PATH } = (await install(shell)).env;
  console.log(`export PATH='${PATH.replaceAll("'", "'\\''")}'`);
}

/** Runs a script of this folder, whose errors are in its own output. */
async function runScript(shell, name, rest) {
  if (!existsSync(path.join(root, 'node_modules'))) console.log('Installing the dependencies. Later runs are faster.');
  const { node, env } = await step('installing the dependencies', () => install(shell));
  process.exitCode = await shell.exitCodeOf(node, [path.join(import.meta.dirname, name), ...rest], { env });
}

/**
 * Installs the dependencies.
 * @returns the program of Node that runs the repository, and an environment whose PATH contains it, pnpm and turbo
 */
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
  // npx adds pnpm to PATH of its command. Printing that PATH makes pnpm available without running npx again.
  const npx = ['--yes', '--prefer-offline', `--package=${pnpm}`, '--', 'node', '-p', 'process.env.PATH'];
  const pnpmPath = await shell.run('npx', npx, { env, output: 'captured' });
  const options = ['--frozen-lockfile', '--prefer-offline', '--reporter=append-only', '--loglevel=warn'];
  const withPnpm = { ...env, PATH: pnpmPath.trim() };
  await shell.run('pnpm', ['install', ...options], { env: withPnpm, output: 'captured' });
  const node = chooseNode(root);
  env.PATH = [path.dirname(node), path.join(root, 'node_modules', '.bin'), withPnpm.PATH].join(path.delimiter);
  return { node, env };
}

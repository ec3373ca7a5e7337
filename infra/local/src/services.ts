import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Lifetime } from './lifetime.ts';
import { repository } from './settings.ts';
import { StartError } from './start-error.ts';

type ServiceName = 'hub' | 'fleet' | 'identity-provider';
/** A service: its environment, its URL, and the URL that returns 200 when it is ready. */
export type Program = { name: ServiceName; env: NodeJS.ProcessEnv; url: string; readyUrl: string };

const folders: Record<ServiceName, string> = {
  hub: path.join(repository, 'apps', 'hub'),
  fleet: path.join(repository, 'apps', 'fleet'),
  'identity-provider': path.join(repository, 'infra', 'identity-provider'),
};
const script = path.join('dist', 'main.js');
const STOP_TIMEOUT_MS = 10_000;
const READY_TIMEOUT_MS = 60_000;
const MAX_LOG_BYTES = 10 * 1024 * 1024;
const SHOWN_LINES = 20;

/** The path of a log file. The file is truncated if it has become too large. */
export function logFile(dataDir: string, name: string): string {
  const file = path.join(dataDir, 'logs', `${name}.log`);
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  if (fs.existsSync(file) && fs.statSync(file).size > MAX_LOG_BYTES) fs.truncateSync(file);
  return file;
}

/**
 * Starts a service that writes to its log file. It is stopped at the end of the lifetime; if it ends by itself, the
 * lifetime fails. @returns its process id
 */
export function startService({ name, env }: Program, dataDir: string, lifetime: Lifetime): number {
  const log = logFile(dataDir, name);
  const output = fs.openSync(log, 'a', 0o600);
  const child = spawn(process.execPath, [script], {
    cwd: folders[name],
    env,
    // The service detects by the IPC channel when this process ends, even if it is killed. It writes to the file
    // directly, so that no output is lost in this case.
    stdio: ['ignore', output, output, 'ipc'],
    detached: true, // Ctrl-C in a terminal reaches only this process, which stops the services in order
  });
  fs.closeSync(output);
  child.once('error', (error) => lifetime.fail(new StartError(`${name} could not be started: ${error.message}`)));
  child.once('exit', (code, signal) => {
    const summary = `${name} ended unexpectedly (${signal ?? `exit code ${code}`}).`;
    lifetime.fail(new StartError(`${summary} The last lines of ${log}:\n${lastLines(log)}`));
  });
  lifetime.atEnd(() => stopService(child));
  return child.pid ?? 0; // if there is no id, an error event follows
}

async function stopService(child: ChildProcess) {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const timeout = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await ended;
  clearTimeout(timeout);
}

function lastLines(file: string) {
  return fs.readFileSync(file, 'utf8').trimEnd().split('\n').slice(-SHOWN_LINES).join('\n');
}

/** Waits until the service is ready. Throws StartError after a minute, and the reason of `signal` if it is aborted. */
export async function untilReady({ name, readyUrl }: Program, signal: AbortSignal): Promise<void> {
  let lastResponse = 'no response';
  for (const deadline = Date.now() + READY_TIMEOUT_MS; Date.now() < deadline; ) {
    try {
      const response = await fetch(readyUrl, { signal: AbortSignal.any([signal, AbortSignal.timeout(2000)]) });
      if (response.status === 200) return;
      lastResponse = `${response.status} ${await response.text()}`;
    } catch {
      signal.throwIfAborted(); // otherwise the service does not listen yet
    }
    await sleep(50, undefined, { signal });
  }
  throw new StartError(`${name} is not ready after a minute. ${readyUrl}: ${lastResponse}`);
}

/** Runs a command of a service. Resolves to its output. Throws StartError. */
export async function runCommand({ name, env }: Program, args: string[], signal: AbortSignal): Promise<string> {
  try {
    const options = { cwd: folders[name], env, signal };
    return (await promisify(execFile)(process.execPath, [script, ...args], options)).stdout;
  } catch (error) {
    signal.throwIfAborted();
    // Errors of execFile contain the output.
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new StartError(`${name} ${args[0]} failed:\n${stdout}${stderr}`.trimEnd(), { cause: error });
  }
}

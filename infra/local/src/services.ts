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
/** A service as it runs here: its environment, where it answers, and where it says with 200 that it is ready. */
export type Program = { name: ServiceName; env: NodeJS.ProcessEnv; url: string; readyUrl: string };

const folders: Record<ServiceName, string> = {
  hub: path.join(repository, 'apps', 'hub'),
  fleet: path.join(repository, 'apps', 'fleet'),
  'identity-provider': path.join(repository, 'infra', 'identity-provider'),
};
const script = path.join('dist', 'main.js');
const patience = 10_000; // milliseconds for an orderly end
const readyWithin = 60_000; // milliseconds
const largestLog = 10 * 1024 * 1024; // bytes
const shownLines = 20;

/** The log file of a part of the product; emptied here when it has become large. */
export function logFile(dataDir: string, name: string): string {
  const file = path.join(dataDir, 'logs', `${name}.log`);
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  if (fs.existsSync(file) && fs.statSync(file).size > largestLog) fs.truncateSync(file);
  return file;
}

/** Starts a service that writes to its log file; answers its process id. It is stopped at the end; its own end is a failure. */
export function startService({ name, env }: Program, dataDir: string, lifetime: Lifetime): number {
  const log = logFile(dataDir, name);
  const output = fs.openSync(log, 'a', 0o600);
  const child = spawn(process.execPath, ['--enable-source-maps', script], {
    cwd: folders[name],
    env,
    // The channel tells the service when we are gone, whatever took us away. Straight to the file: no output is lost then.
    stdio: ['ignore', output, output, 'ipc'],
    detached: true, // Ctrl-C in a terminal reaches us only: we stop one after the other
  });
  fs.closeSync(output);
  child.once('error', (error) => lifetime.fail(new StartError(`${name} can't be started: ${error.message}`)));
  child.once('exit', (code, signal) => {
    const how = `${name} ended unexpectedly (${signal ?? `exit code ${code}`}).`;
    lifetime.fail(new StartError(`${how} The last lines of ${log}:\n${lastLines(log)}`));
  });
  lifetime.atEnd(() => stopService(child));
  return child.pid ?? 0; // without a number there is an error event
}

async function stopService(child: ChildProcess) {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const impatient = setTimeout(() => child.kill('SIGKILL'), patience);
  await gone;
  clearTimeout(impatient);
}

function lastLines(file: string) {
  return fs.readFileSync(file, 'utf8').trimEnd().split('\n').slice(-shownLines).join('\n');
}

/** Waits until the service is ready. Throws StartError after a minute, and the lifetime's reason when it ends. */
export async function untilReady({ name, readyUrl }: Program, signal: AbortSignal): Promise<void> {
  let last = 'no answer';
  for (const deadline = Date.now() + readyWithin; Date.now() < deadline; ) {
    try {
      const response = await fetch(readyUrl, { signal: AbortSignal.any([signal, AbortSignal.timeout(2000)]) });
      if (response.status === 200) return;
      last = `${response.status} ${await response.text()}`;
    } catch {
      signal.throwIfAborted(); // else: not listening yet
    }
    await sleep(50, undefined, { signal });
  }
  throw new StartError(`${name} is not ready after a minute. ${readyUrl}: ${last}`);
}

/** Runs a command of a service to its end and answers what it printed. Throws StartError. */
export async function runCommand({ name, env }: Program, args: string[], signal: AbortSignal): Promise<string> {
  try {
    const options = { cwd: folders[name], env, signal };
    return (await promisify(execFile)(process.execPath, [script, ...args], options)).stdout;
  } catch (error) {
    signal.throwIfAborted();
    // What execFile throws carries the output.
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new StartError(`${name} ${args[0]} failed:\n${stdout}${stderr}`.trimEnd(), { cause: error });
  }
}

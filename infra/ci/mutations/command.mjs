import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/** Time to exit after SIGINT, which Ctrl-C in a terminal sends, before SIGKILL. */
const GRACE_MS = 10_000;

/** The check cannot run, or its result is not conclusive. */
export class CheckFailed extends Error {}

/** Runs a check. Prints why it failed, and sets the exit code. */
export async function reporting(main) {
  try {
    await main();
  } catch (error) {
    const isExpected =
      error instanceof CheckFailed || error instanceof Interrupted || error.code?.startsWith('ERR_PARSE_ARGS');
    console.error(isExpected ? error.message : error);
    process.exitCode = error.exitCode ?? 1;
  }
}

/** A signal ended the check. The exit code is that of a shell. */
export class Interrupted extends Error {
  constructor(signal) {
    super(`stopped by ${signal}`);
    this.exitCode = 128 + constants.signals[signal];
  }
}

/** @returns an AbortSignal that is aborted with `Interrupted` when this process receives a signal */
export function interruption() {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => controller.abort(new Interrupted(signal)));
  }
  return controller.signal;
}

/**
 * Runs a command in its own process group, so that all of its processes can be ended together.
 * @returns its exit code (null after a signal), its output, and whether it exceeded the timeout
 * @throws Interrupted after the group has ended
 */
export async function run(file, args, { cwd, env, timeoutMs, signal }) {
  signal.throwIfAborted();
  const child = spawn(file, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  let timedOut = false;
  let killer;
  const end = () => {
    endGroup(child.pid, 'SIGINT');
    killer ??= setTimeout(() => endGroup(child.pid, 'SIGKILL'), GRACE_MS);
  };
  const limit = setTimeout(() => {
    timedOut = true;
    end();
  }, timeoutMs);
  signal.addEventListener('abort', end);
  try {
    const code = await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    signal.throwIfAborted();
    return { code, output, timedOut };
  } finally {
    clearTimeout(limit);
    clearTimeout(killer);
    signal.removeEventListener('abort', end);
    // A process of the group that is in an endless loop ignores SIGINT.
    endGroup(child.pid, 'SIGKILL');
  }
}

function endGroup(pid, signal) {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error; // ESRCH: the group has ended
  }
}

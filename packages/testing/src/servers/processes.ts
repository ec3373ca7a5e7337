import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** A process that a test started. */
export interface StartedProcess {
  readonly child: ChildProcess;
  /** Its output so far. */
  output(): string;
  /** Resolves to its exit code, or to null after a signal. */
  readonly ended: Promise<number | null>;
}

/** Runs a built file with Node. Its environment contains only `environment` and PATH. */
export function startProcess(
  file: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): StartedProcess {
  const child = spawn(process.execPath, [file, ...args], {
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const ended = once(child, 'close').then(([code]: (number | null)[]) => code ?? null);
  return { child, output: () => output, ended };
}

/**
 * Waits until `/readyz` of a service returns 200.
 * @throws an error with its output if it ends before
 */
export async function untilReady(url: string, { child, output }: StartedProcess): Promise<void> {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; ) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`the process ended:\n${output()}`);
    const ready = await fetch(`${url}/readyz`).then(
      ({ status }) => status === 200,
      () => false, // not listening yet
    );
    if (ready) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`not ready after 60 s:\n${output()}`);
}

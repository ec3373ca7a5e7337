import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { eventually } from '../run/eventually.ts';

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
  await eventually(`${url} is ready`, async () => {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`the process ended:\n${output()}`);
    return fetch(`${url}/readyz`).then(
      ({ status }) => status === 200,
      () => false, // not listening yet
    );
  }).catch((cause) => {
    throw new Error(`${cause.message}\n${output()}`, { cause });
  });
}

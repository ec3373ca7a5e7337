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

/** Far more than the time limits of all checks of `/readyz` together. */
const READYZ_MS = 120_000;

/**
 * Waits until `/readyz` of a service returns 200.
 * @throws an error with its output if it ends before, or if it does not respond to a request
 */
export async function untilReady(url: string, { child, output }: StartedProcess): Promise<void> {
  const read = async () => {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error('the process ended');
    try {
      const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(READYZ_MS) });
      return response.status === 200 ? 'ready' : await response.text();
    } catch (error) {
      if (error instanceof DOMException) throw new Error('/readyz does not respond', { cause: error });
      return String(error); // not listening yet
    }
  };
  await eventually(`${url} is ready`, read, { until: (state) => state === 'ready' }).catch((cause) => {
    throw new Error(`${cause.message}\n${output()}`, { cause });
  });
}

import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writePrivateFile } from './private-file.ts';
import { isRunning, markOf, type ProcessMark } from './process-mark.ts';
import { StartError } from './start-error.ts';

/** `run.json` in the data folder: the process that uses the folder, and the services that it started. */
export type Run = ProcessMark & { services: (ProcessMark & { name: string })[] };

export type RunFile = { add(name: string, pid: number): void; remove(): void };

const STOP_TIMEOUT_MS = 10_000;

const fileIn = (dataDir: string) => path.join(dataDir, 'run.json');

/**
 * Ensures that no other run uses the data folder, and ends the services that a killed run left. Resolves to whether
 * there was a killed run. Throws StartError if another run is in progress.
 */
export async function endLastRun(dataDir: string): Promise<{ wasKilled: boolean }> {
  const last = readRun(fileIn(dataDir));
  if (last === undefined) return { wasKilled: false };
  if (isRunning(last)) {
    throw new StartError(
      `The product already runs with ${dataDir} (process ${last.pid}). Stop it, or choose another DATA_DIR and other ports.`,
    );
  }
  await Promise.all(last.services.map(endLeftover));
  return { wasKilled: true };
}

/** Records in the data folder that this process uses it. */
export function openRunFile(dataDir: string): RunFile {
  const run: Run = { ...requireMark(process.pid), services: [] };
  const write = () => writePrivateFile(fileIn(dataDir), `${JSON.stringify(run, null, 2)}\n`);
  write();
  return {
    add(name, pid) {
      run.services.push({ name, ...requireMark(pid) });
      write();
    },
    remove: () => fs.rmSync(fileIn(dataDir), { force: true }),
  };
}

function readRun(file: string): Run | undefined {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8')) as Run; // only this module writes the file, atomically
  } catch {
    return undefined; // no file, or a file of another program; a running product is then detected by its ports
  }
}

/** Ends a service. Usually it ends by itself, because its connection to the killed run is closed. */
async function endLeftover(service: ProcessMark) {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (isRunning(service)) process.kill(service.pid, signal);
    for (let waited = 0; waited < STOP_TIMEOUT_MS && isRunning(service); waited += 50) await sleep(50);
  }
}

/** The mark of a process. That of an ended process does not match any other process. */
const requireMark = (pid: number): ProcessMark => markOf(pid) ?? { pid, startedAt: 'ended' };

import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writePrivateFile } from './private-file.ts';
import { isRunning, markOf, type ProcessMark } from './process-mark.ts';
import { StartError } from './start-error.ts';

/** `run.json` in the data folder: the process that uses the folder, and the services that it has started. */
export type Run = ProcessMark & { services: (ProcessMark & { name: string })[] };

export type RunFile = { add(name: string, pid: number): void; remove(): void };

const patience = 10_000; // milliseconds for an orderly end

const fileIn = (dataDir: string) => path.join(dataDir, 'run.json');

/**
 * Makes sure that no other run uses the data folder, and ends the services that a killed one left behind. Answers
 * whether there was a killed one. Throws StartError when the other run is alive.
 */
export async function endLastRun(dataDir: string): Promise<{ wasKilled: boolean }> {
  const last = readRun(fileIn(dataDir));
  if (last === undefined) return { wasKilled: false };
  if (isRunning(last)) {
    throw new StartError(
      `It runs already on ${dataDir} (process ${last.pid}): stop that one, or choose another DATA_DIR and other ports.`,
    );
  }
  await Promise.all(last.services.map(endLeftover));
  return { wasKilled: true };
}

/** Says in the data folder that this process uses it. */
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
    return JSON.parse(fs.readFileSync(file, 'utf8')) as Run; // only we write this file, whole
  } catch {
    return undefined; // there is none, or a stranger's: whoever runs holds the ports, which are looked at as well
  }
}

/** Normally it ends by itself, because its connection to the killed run is gone. */
async function endLeftover(service: ProcessMark) {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (isRunning(service)) process.kill(service.pid, signal);
    for (let waited = 0; waited < patience && isRunning(service); waited += 50) await sleep(50);
  }
}

/** A process that has ended already will not be mistaken for another one later. */
const requireMark = (pid: number): ProcessMark => markOf(pid) ?? { pid, startedAt: 'ended' };

import { readdirSync, readFileSync } from 'node:fs';
import { PROGRAM_PATH } from './at-hand.ts';
import { runProgram } from './program.ts';

/**
 * Ends the processes of an engine that has stopped, and unmounts its filesystems. An engine that is
 * killed while it creates a container does not know this container, and leaves its processes and
 * mounts. Without `umount`, the folder cannot be removed.
 */
export async function removeLeftovers(folder: string): Promise<void> {
  for (const pid of processesOf(folder)) kill(pid);
  // The most recent mount first: it can be inside an older one.
  for (const mounted of mountsBelow(folder).reverse()) {
    await runProgram('umount', ['--lazy', mounted], { cwd: '/', env: { PATH: PROGRAM_PATH } });
  }
}

function mountsBelow(folder: string): string[] {
  const lines = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  return lines.map((line) => line.split(' ')[1] ?? '').filter((mounted) => mounted.startsWith(`${folder}/`));
}

/**
 * The processes that have a path in a folder as an argument, and their descendants: monitors of
 * containers, and containers.
 */
function processesOf(folder: string): number[] {
  const pids = readdirSync('/proc').map(Number).filter(Boolean);
  const parents = new Map(pids.map((pid) => [pid, parentOf(pid)]));
  const found = new Set(pids.filter((pid) => pid !== process.pid && textOf(pid, 'cmdline').includes(`${folder}/`)));
  // The iteration includes the members that it adds.
  for (const parent of found) for (const [pid, of] of parents) if (of === parent) found.add(pid);
  return [...found];
}

const parentOf = (pid: number): number => Number(/^PPid:\s+(\d+)$/m.exec(textOf(pid, 'status'))?.[1]);

/** A file of a process, or an empty string if the process has ended. */
function textOf(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended.
  }
}

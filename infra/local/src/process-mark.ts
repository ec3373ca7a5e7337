import { execFileSync } from 'node:child_process';
import fs from 'node:fs';

export type ProcessMark = { pid: number; startedAt: string };

/** A process by number and start time, since numbers are used again; nothing when there is no such process. */
export function markOf(pid: number): ProcessMark | undefined {
  try {
    const startedAt = process.platform === 'linux' ? fromProc(pid) : fromPs(pid);
    return startedAt ? { pid, startedAt } : undefined;
  } catch {
    return undefined; // both ways fail for a process that does not exist
  }
}

export const isRunning = (mark: ProcessMark) => markOf(mark.pid)?.startedAt === mark.startedAt;

function fromProc(pid: number) {
  const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // the name before it may hold anything
  if (state === 'Z' || state === 'X') return undefined; // ended, and only not yet waited for
  return `${fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${fields[18]}`;
}

function fromPs(pid: number) {
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
  return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', env, stdio: 'pipe' }).trim();
}

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';

export type ProcessMark = { pid: number; startedAt: string };

/** Identifies a process by id and start time, because ids are reused; undefined if the process does not exist. */
export function markOf(pid: number): ProcessMark | undefined {
  try {
    const startedAt = process.platform === 'linux' ? fromProc(pid) : fromPs(pid);
    return startedAt ? { pid, startedAt } : undefined;
  } catch {
    return undefined; // both functions throw if the process does not exist
  }
}

export const isRunning = (mark: ProcessMark) => markOf(mark.pid)?.startedAt === mark.startedAt;

function fromProc(pid: number) {
  const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // the name can contain any characters
  if (state === 'Z' || state === 'X') return undefined; // a zombie has ended
  return `${fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${fields[18]}`;
}

function fromPs(pid: number) {
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
  return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', env, stdio: 'pipe' }).trim();
}

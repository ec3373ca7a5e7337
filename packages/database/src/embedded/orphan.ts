import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const ticksPerSecond = 100; // USER_HZ, fixed on every Linux that Node runs on
const startTolerance = 2; // seconds, because both times are rounded
const ownerSetting = 'svc.owner_pid';

type LiveProcess = { parent: number; startedAt: number; command: string };

/**
 * The arguments from which a later start recognizes a server of this module and the process that
 * started it.
 */
export function ownerArguments(dataDir: string): string[] {
  return ['-D', dataDir, '-c', `${ownerSetting}=${process.pid}`];
}

/**
 * Stops the server that a killed process left running on a data folder. A process receives a signal
 * only if its data folder, start time and arguments match. Throws if the process that started the
 * server is still running.
 */
export async function stopOrphan(dataDir: string): Promise<void> {
  const pid = ownServer(dataDir);
  if (pid === undefined) return;
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    process.kill(pid, signal);
    for (let waited = 0; waited < 10_000; waited += 50) {
      if (ownServer(dataDir) !== pid) return;
      await sleep(50);
    }
  }
  throw new Error(
    `PostgreSQL on ${dataDir} (process ${pid}), left running by a killed process, does not stop. Stop it manually.`,
  );
}

function ownServer(dataDir: string): number | undefined {
  const file = path.join(dataDir, 'postmaster.pid');
  if (!fs.existsSync(file)) return undefined;
  const [pidLine, dirLine, startLine] = fs.readFileSync(file, 'utf8').split('\n');
  const pid = Number(pidLine);
  if (!Number.isInteger(pid) || pid <= 1 || dirLine !== dataDir) return undefined;
  const live = liveProcess(pid);
  if (!live || Math.abs(live.startedAt - Number(startLine)) > startTolerance) return undefined;
  const [program, settings] = live.command.split(` -D ${dataDir} -c ${ownerSetting}=`);
  if (settings === undefined || !program?.endsWith('/postgres')) return undefined;
  if (Number.parseInt(settings, 10) === live.parent) {
    throw new Error(
      `PostgreSQL already runs on ${dataDir}, started by process ${live.parent}. Stop that process, or choose another data folder.`,
    );
  }
  return pid;
}

function liveProcess(pid: number): LiveProcess | undefined {
  try {
    return process.platform === 'linux' ? fromProc(pid) : fromPs(pid);
  } catch {
    return undefined; // the process does not exist or belongs to another user
  }
}

function fromProc(pid: number): LiveProcess {
  const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name can contain any characters.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const boot = /^btime (\d+)$/m.exec(fs.readFileSync('/proc/stat', 'utf8'));
  return {
    parent: Number(fields[1]),
    startedAt: Number(boot?.[1]) + Number(fields[19]) / ticksPerSecond,
    command: fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' '),
  };
}

function fromPs(pid: number): LiveProcess | undefined {
  const options = { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' } } as const;
  const line = execFileSync('ps', ['-ww', '-o', 'ppid=,lstart=,args=', '-p', String(pid)], options).trim();
  const [, parent, startedAt, command] = /^(\d+)\s+(\w+ +\w+ +\d+ [\d:]+ \d+)\s+(.*)$/s.exec(line) ?? [];
  if (!startedAt || !command) return undefined;
  return { parent: Number(parent), startedAt: Date.parse(startedAt) / 1000, command };
}

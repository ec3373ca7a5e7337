import fs from 'node:fs';

/**
 * The processes that wait for this process: its parent, and above it npm with the shell and the bootstrap process that
 * it runs. The list changes when one of them exits. Processes other than the parent are only found on Linux.
 */
export function waitingProcesses(): number[] {
  const pids = [process.ppid];
  for (let pid = parentOfWaiting(process.ppid); pid; pid = parentOfWaiting(pid)) pids.push(pid);
  return pids;
}

/** The parent of a process that only waits for its child, or undefined for other processes. */
function parentOfWaiting(pid: number): number | undefined {
  try {
    const [program = '', argument = ''] = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    if (!isShell(program, argument) && !isBootstrap(argument)) return undefined;
    return Number(/^PPid:\s+(\d+)$/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return undefined; // the process has just ended, or this is not Linux
  }
}

/** A shell that runs one command. */
const isShell = (program: string, option: string) => /(^|\/)(ba|da|a)?sh$/.test(program) && option === '-c';

/** The process that selects the version of Node that runs the repository. */
const isBootstrap = (script: string) => /(^|\/)infra\/local\/bootstrap\.mjs$/.test(script);

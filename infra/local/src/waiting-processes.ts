import fs from 'node:fs';

/**
 * The processes that wait for this process: its parent, and if the parent is the shell in which npm runs a script, also
 * npm. The list changes when one of them exits. Processes other than the parent are only found on Linux.
 */
export function waitingProcesses(): number[] {
  const pids = [process.ppid];
  for (let pid = parentOfShell(process.ppid); pid; pid = parentOfShell(pid)) pids.push(pid);
  return pids;
}

/** The parent of a shell that runs one command (`sh -c ...`), or undefined for other processes. */
function parentOfShell(pid: number): number | undefined {
  try {
    const [program = '', option] = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    if (!/(^|\/)(ba|da|a)?sh$/.test(program) || option !== '-c') return undefined;
    return Number(/^PPid:\s+(\d+)$/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return undefined; // the process has just ended, or this is not Linux
  }
}

import fs from 'node:fs';

/**
 * The processes that wait for this one: its parent, and where that is the shell in which npm runs a script, npm as well.
 * The list changes when one of them is gone. Beyond the parent only Linux tells.
 */
export function waitingProcesses(): number[] {
  const pids = [process.ppid];
  for (let above = parentOfShell(process.ppid); above; above = parentOfShell(above)) pids.push(above);
  return pids;
}

/** The parent of a shell that runs one command (`sh -c ...`); nothing for another process. */
function parentOfShell(pid: number): number | undefined {
  try {
    const [program = '', option] = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    if (!/(^|\/)(ba|da|a)?sh$/.test(program) || option !== '-c') return undefined;
    return Number(/^PPid:\s+(\d+)$/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return undefined; // gone this moment, or no Linux
  }
}

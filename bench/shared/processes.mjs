// What the benches need of the processes that they measure.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';

const OBSERVER = new URL('observer.mjs', import.meta.url).href;
const TICK_MS = 10; // of the CPU times in /proc

const statOf = (pid) => fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ').map(Number);

/**
 * The CPU time of a process so far in milliseconds. `children` adds that of its past and present
 * children.
 */
export function cpuOf(pid, { children = false } = {}) {
  const fields = statOf(pid);
  const own = fields[11] + fields[12];
  if (!children) return own * TICK_MS;
  const ofChildren = fs
    .readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => {
      try {
        const stat = statOf(name);
        return stat[1] === pid ? stat[11] + stat[12] : 0;
      } catch {
        return 0; // the process has ended
      }
    });
  return (own + fields[13] + fields[14] + ofChildren.reduce((sum, ticks) => sum + ticks, 0)) * TICK_MS;
}

const megabytes = (pid, member) => {
  const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${member}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
};

/** The resident memory of a process now, in MB. */
export const memoryOf = (pid) => megabytes(pid, 'VmRSS');

/** The maximum resident memory of a process so far, in MB. */
export const peakMemoryOf = (pid) => Math.round(megabytes(pid, 'VmHWM'));

/** Ends a process with a signal, and waits for its end. */
export async function end(child, signal = 'SIGTERM') {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}

/**
 * Starts a server whose CPU time, connections and responses are measured. It ends with this
 * process.
 * @param stdio its standard streams
 */
export function startServer(args, { env, stdio }) {
  const child = spawn(process.execPath, ['--import', OBSERVER, ...args], { env, stdio: [...stdio, 'ipc'] });
  const ask = async (name) => {
    child.send(name);
    const [answer] = await once(child, 'message');
    return answer;
  };
  return {
    child,
    pid: child.pid,
    cpu: () => cpuOf(child.pid),
    /**
     * The number of `connections` that were opened so far, of those that are `open`, of those that
     * have `stalled` before they were closed, and of the responses of each status: `statuses`.
     */
    counts: () => ask('counts'),
    /** @returns the result of some work, and the CPU profile of the server during this work */
    profile: async (work) => {
      await ask('startProfile');
      const result = await work();
      return { result, profile: await ask('stopProfile') };
    },
    stop: (signal) => end(child, signal),
  };
}

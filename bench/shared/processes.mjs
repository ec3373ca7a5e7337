// What the benches need of a process of a service.
import fs from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** Waits until a service is ready. @throws if it ends before, or is not ready within a minute */
export async function untilReady(url, child) {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline && child.exitCode === null; await delay(50)) {
    const { ok } = await fetch(`${url}/readyz`).catch(() => ({ ok: false })); // not listening yet
    if (ok) return;
  }
  throw new Error(`${url} did not become ready`);
}

/** The resident memory of a process now, in MB. */
export const memoryOf = (pid) =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

/** The maximum resident memory of a process so far, in MB. */
export const peakMemoryOf = (pid) =>
  Math.round(Number(/^VmHWM:\s+(\d+) kB/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024);

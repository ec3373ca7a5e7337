import { setTimeout as pause } from 'node:timers/promises';
import type { Ledger } from './fire-ledger.ts';
import type { FireProcesses } from './fire-processes.ts';

const WRITERS = 3;

/** Freezes one process for longer than its leases, and kills another one meanwhile, again and again. @returns how often */
async function torment({ freeze, wake, replace, lease }: FireProcesses, until: AbortSignal): Promise<number> {
  let times = 0;
  for (; !until.aborted; times += 1) {
    freeze(1);
    await pause(lease / 3);
    await replace(2);
    await pause(lease * 0.75);
    wake(1);
    await pause(lease / 15);
  }
  return times;
}

interface Storm {
  readonly ledger: Ledger;
  readonly slots: readonly number[];
  readonly seconds: number;
}

/** Changes the deployments of slots at random while processes are frozen and killed. @returns how often that happened */
export async function storm(processes: FireProcesses, { ledger, slots, seconds }: Storm): Promise<number> {
  const ended = new AbortController();
  const tormented = torment(processes, ended.signal);
  const writing = Array.from({ length: WRITERS }, (_, writer) =>
    ledger.write(
      slots.filter((slot) => slot % WRITERS === writer),
      ended.signal,
    ),
  );
  await pause(seconds * 1000);
  ended.abort();
  await Promise.all(writing);
  return tormented;
}

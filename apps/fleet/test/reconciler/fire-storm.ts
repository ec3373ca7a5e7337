import { setTimeout as pause } from 'node:timers/promises';
import type { Ledger } from './fire-ledger.ts';
import type { FireProcesses } from './fire-processes.ts';

/** Longer than a lease. */
const FROZEN_MS = 16_000;
const WRITERS = 3;

/** One is frozen past its leases again and again, and another one killed meanwhile. @returns how often */
async function torment({ freeze, wake, replace }: FireProcesses, until: AbortSignal): Promise<number> {
  let times = 0;
  for (; !until.aborted; times += 1) {
    freeze(1);
    await pause(FROZEN_MS / 3);
    await replace(2);
    await pause((2 * FROZEN_MS) / 3);
    wake(1);
    await pause(1000);
  }
  return times;
}

interface Storm {
  readonly ledger: Ledger;
  readonly slots: readonly number[];
  readonly seconds: number;
}

/** Changes the deployments of slots at random, while processes are frozen and killed. @returns how often these were */
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

import { setTimeout as pause } from 'node:timers/promises';
import type { Ledger } from './ledger.ts';
import type { ChaosProcesses } from './processes.ts';

const WRITERS = 3;

/**
 * Repeatedly freezes one process for longer than its leases, and kills another one meanwhile.
 * @returns the number of repetitions
 */
async function disruptProcesses({ freeze, wake, replace, lease }: ChaosProcesses, until: AbortSignal): Promise<number> {
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

interface LoadOptions {
  readonly ledger: Ledger;
  readonly slots: readonly number[];
  readonly seconds: number;
}

/**
 * Changes the deployments of slots at random while processes are frozen and killed. @returns the
 * number of disruptions
 */
export async function runLoad(processes: ChaosProcesses, { ledger, slots, seconds }: LoadOptions): Promise<number> {
  const ended = new AbortController();
  const disruptions = disruptProcesses(processes, ended.signal);
  const writing = Array.from({ length: WRITERS }, (_, writer) =>
    ledger.write(
      slots.filter((slot) => slot % WRITERS === writer),
      ended.signal,
    ),
  );
  await pause(seconds * 1000);
  ended.abort();
  await Promise.all(writing);
  return disruptions;
}

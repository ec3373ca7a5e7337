import { setTimeout as wait } from 'node:timers/promises';

/** Waits for a condition. @throws after half a minute, with the name of the condition */
export async function eventually(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; await wait(20)) {
    if (await isSo()) return;
  }
  throw new Error(`still not after 30 s: ${what}`);
}

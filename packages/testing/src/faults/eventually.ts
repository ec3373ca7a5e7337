import { setTimeout as wait } from 'node:timers/promises';

/** Waits for something that comes by itself. @throws after half a minute, with what was waited for */
export async function eventually(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; await wait(20)) {
    if (await isSo()) return;
  }
  throw new Error(`still not after 30 s: ${what}`);
}

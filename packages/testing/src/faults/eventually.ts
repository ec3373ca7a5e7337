import { setTimeout as wait } from 'node:timers/promises';

/** Waits for a condition. @throws an error with its name after 30 seconds */
export async function eventually(name: string, condition: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; await wait(50)) {
    if (await condition()) return;
  }
  throw new Error(`timed out after 30 s: ${name}`);
}

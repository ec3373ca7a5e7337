import { setTimeout as pause } from 'node:timers/promises';

/** Performs a task, and then again after each interval. The returned promise settles with the first time; later errors are only printed. */
export async function repeat(title, task, intervalMs) {
  await task();
  void repeatAfter(title, task, intervalMs);
}

async function repeatAfter(title, task, intervalMs) {
  for (;;) {
    await pause(intervalMs);
    await task().catch((error) => console.error(`${title} failed: ${error.message}`));
  }
}

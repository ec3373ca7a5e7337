import { setTimeout as pause } from 'node:timers/promises';

/** Performs a task, and then again after each interval. The returned promise settles with the first time; later errors are printed once each. */
export async function repeat(title, task, intervalMs) {
  await task();
  void repeatAfter(title, task, intervalMs);
}

async function repeatAfter(title, task, intervalMs) {
  let printed = '';
  for (;;) {
    await pause(intervalMs);
    const message = await task().then(
      () => '',
      (error) => `${title} failed: ${error.message}`,
    );
    if (message && message !== printed) console.error(message);
    printed = message;
  }
}

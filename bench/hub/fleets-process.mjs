// A child process whose fleets poll, or sync until they are told to stop. It is separate from the bench, so that the
// pages that they receive do not delay what the bench measures.
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '../shared/client.mjs';
import { sync } from './syncs.mjs';

let isStopped = false;

/** Each key syncs from the start, without pause. */
async function syncs({ url, keys }) {
  await Promise.all(
    keys.map(async (key) => {
      while (!isStopped) await sync({ url }, key);
    }),
  );
}

/**
 * Each key polls once, on a connection of its own, at times that are distributed evenly over some seconds. A poll for
 * which no connection is left waits for one.
 * @returns the number of polls by their status, or the code of the error of their connection, and the times from the
 * start until the last poll was sent and until the last one was answered, in milliseconds
 */
async function polls({ url, keys, path, seconds, connections }) {
  const outcomes = {};
  const started = performance.now();
  const waiting = keys.entries();
  let lastSent = 0;
  const send = async () => {
    for (const [index, key] of waiting) {
      await delay(Math.max(0, started + (1000 * seconds * index) / keys.length - performance.now()));
      const client = createClient({ url });
      lastSent = performance.now() - started;
      const outcome = await client.send({ path, key }).then(
        ({ status }) => status,
        (error) => error.code ?? error.message,
      );
      client.close();
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, send));
  return { outcomes, lastSent, lastAnswered: performance.now() - started };
}

const tasks = { syncs, polls };

process.on('message', async ({ task, ...given }) => {
  if (task === 'stop') isStopped = true;
  else process.send((await tasks[task](given)) ?? null);
});

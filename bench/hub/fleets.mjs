// Fleets in a process of their own.
import { fork } from 'node:child_process';
import { once } from 'node:events';

/** Starts the process. `run` runs a task of `fleets-process.mjs`, and `end` ends the process. */
export function startFleets() {
  const child = fork(new URL('fleets-process.mjs', import.meta.url));
  const ended = once(child, 'exit');
  return {
    /** @returns what the task returns. @throws if the process ends before */
    run: async (task) => {
      child.send(task);
      const [answer] = await Promise.race([
        once(child, 'message'),
        ended.then(() => Promise.reject(new Error('the process of the fleets ended'))),
      ]);
      return answer;
    },
    /** Tells the syncs to stop after the one in progress. */
    stopSyncs: () => child.send({ task: 'stop' }),
    end: async () => {
      child.kill();
      await ended;
    },
  };
}

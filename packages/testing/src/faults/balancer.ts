import { setTimeout as wait } from 'node:timers/promises';
import { eventually } from '../run/eventually.ts';
import { ask } from './load.ts';

interface Replica {
  readonly url: string;
}

const POLL_MS = 100;

export const isReady = async ({ url }: Replica): Promise<boolean> => (await ask(`${url}/readyz`)).status === 200;

/**
 * A load balancer: polls the readiness of each replica, and sends requests to the ready ones in
 * turn.
 */
export function aBalancer(replicas: readonly Replica[]) {
  let ready = [...replicas];
  let turn = 0;
  let polling = true;
  const sent = new Map(replicas.map((replica) => [replica, 0]));
  const polled = (async () => {
    while (polling) {
      const readiness = await Promise.all(replicas.map(isReady));
      ready = replicas.filter((_, index) => readiness[index]);
      await wait(POLL_MS);
    }
  })();
  return {
    /** The URL of the replica for the next request. */
    url: (): string => {
      const chosen = ready[turn++ % ready.length];
      if (!chosen) throw new Error('no replica is ready');
      sent.set(chosen, (sent.get(chosen) ?? 0) + 1);
      return chosen.url;
    },
    /** Resolves when it sends requests to all replicas. */
    allReady: () => eventually('all replicas are ready', async () => ready.length === replicas.length),
    /** The number of requests to each replica. */
    sent: (): number[] => [...sent.values()],
    stop: (): Promise<void> => {
      polling = false;
      return polled;
    },
  };
}

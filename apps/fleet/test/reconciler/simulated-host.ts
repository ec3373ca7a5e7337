import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';

/** A container that a simulated host has created. Times are milliseconds since 1970. */
export interface Creation {
  readonly at: number;
  /** null: it exists. */
  readonly removedAt: number | null;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * A host in a process of its own (bench/fleet/engines.mjs), whose containers run as soon as they are started.
 * With `jobsEnd`, those of jobs then end with the exit code 0.
 */
export async function aSimulatedHost({ jobsEnd = false } = {}) {
  const script = path.join(import.meta.dirname, '../../../../bench/fleet/engines.mjs');
  const child = fork(script, ['--cpus', '64', ...(jobsEnd ? ['--jobs-end'] : [])], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    execArgv: [],
  });
  const [line] = await once(createInterface({ input: child.stdout ?? process.stdin }), 'line');
  const { control, endpoints }: { control: string; endpoints: [string] } = JSON.parse(line);
  const read = async (what: string) => (await fetch(`${control}/${what}`)).json();
  return {
    endpoint: endpoints[0],
    /** The number of requests so far, by kind. */
    calls: async () => (await read('calls')) as Record<string, number>, // see engines.mjs
    /** All containers of a deployment so far, the oldest first. */
    creationsOf: async (deployment: string) =>
      ((await read('creations')) as Creation[]) // see engines.mjs
        .filter(({ labels }) => labels['fleet/deployment'] === deployment),
    stop: async () => {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}

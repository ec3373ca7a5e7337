import type { ReconcilerTimings } from '../../../src/reconciler/timings.ts';
import { anAdminToken } from '../../faults/identity-world.ts';
import { startProcessWorld } from '../../process-world.ts';
import { SHORT_TIMINGS } from '../../timings.ts';
import { WATCH_WRITES } from './watch.ts';

interface Options {
  readonly environment: Readonly<Record<string, string>>;
  readonly names?: readonly string[];
  readonly timings?: ReconcilerTimings;
}

/** Processes of the fleet on one database. Triggers check each change of a deployment. */
export async function startChaosProcesses({
  environment,
  names = ['a', 'b', 'c'],
  timings = SHORT_TIMINGS.reconciler,
}: Options) {
  const world = await startProcessWorld({ isMigrated: true, timings: { reconciler: timings } });
  await world.query(WATCH_WRITES);
  const startOne = (name: string) =>
    world.startFleet({
      DATABASE_URL: `${world.database.url}?options=${encodeURIComponent(`-c fire.process=${name}`)}`,
      RATE_LIMIT: 'off',
      ...environment,
    });
  const end = async () => {
    await world.endAll();
    await world.database.drop();
  };
  const replicas = await Promise.all(names.map(startOne)).catch(async (error) => {
    await end();
    throw error;
  });
  const kill = async (index: number) => {
    replicas[index]?.child.kill('SIGKILL');
    await replicas[index]?.ended;
  };
  let frozen: number | undefined;
  const secret = await anAdminToken(world.database.url);

  return {
    query: world.query,
    databaseUrl: world.database.url,
    secret,
    lease: timings.lease,
    /** The addresses of the processes. */
    urls: () => replicas.map(({ url }) => url),
    /** Creates a resource. */
    made: async (path: string, body: object) => {
      const answer = await fetch(`${replicas[0]?.url}/api/v1/${path}`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
      if (answer.status !== 201)
        throw new Error(`POST ${path} responded with ${answer.status}: ${await answer.text()}`);
      const [deployment] = Object.values((await answer.json()) as Record<string, { readonly id: string }>);
      return deployment ?? { id: '' };
    },
    /** The address of a random process, rarely of the frozen one. */
    url: () => {
      const there = replicas.filter((_, index) => index !== frozen || Math.random() < 0.03);
      return there[Math.floor(Math.random() * there.length)]?.url ?? '';
    },
    /** Stops a process until `wake`. */
    freeze: (index: number) => {
      frozen = index;
      replicas[index]?.child.kill('SIGSTOP');
    },
    wake: (index: number) => {
      frozen = undefined;
      replicas[index]?.child.kill('SIGCONT');
    },
    kill,
    /** Kills a process, unless it was killed, and starts another one in its place. */
    replace: async (index: number) => {
      await kill(index);
      replicas[index] = await startOne(`${names[index]}${Date.now()}`);
    },
    stop: async () => {
      for (const { child } of replicas) child.kill('SIGCONT');
      await end();
    },
  };
}

export type ChaosProcesses = Awaited<ReturnType<typeof startChaosProcesses>>;

import { startProcessWorld } from '../process-world.ts';
import { WATCH_WRITES } from './fire-watch.ts';

/** Processes of the fleet on one database, which looks at what they write. */
export async function startFireProcesses(environment: Readonly<Record<string, string>>, names = ['a', 'b', 'c']) {
  const world = await startProcessWorld();
  const startOne = (name: string) =>
    world.startFleet({
      DATABASE_URL: `${world.database.url}?options=${encodeURIComponent(`-c fire.process=${name}`)}`,
      RATE_LIMIT: 'off',
      ...environment,
    });
  const [first = '', ...others] = names;
  const replicas = [await startOne(first)]; // it makes the tables
  replicas.push(...(await Promise.all(others.map(startOne))));
  let frozen: number | undefined;
  const { secret } = await world.createToken('admin');
  await world.query(WATCH_WRITES);

  return {
    ...{ query: world.query, secret },
    /** Where each of them is. */
    urls: () => replicas.map(({ url }) => url),
    /** Makes something. */
    made: async (path: string, body: object) => {
      const answer = await fetch(`${replicas[0]?.url}/api/v1/${path}`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
      if (answer.status !== 201) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
      const [it] = Object.values((await answer.json()) as Record<string, { readonly id: string }>);
      return it ?? { id: '' };
    },
    /** One of those that are there, and now and then one that is frozen. */
    url: () => {
      const there = replicas.filter((_, index) => index !== frozen || Math.random() < 0.03);
      return there[Math.floor(Math.random() * there.length)]?.url ?? '';
    },
    /** A process is frozen for longer than a lease. */
    freeze: (index: number) => {
      frozen = index;
      replicas[index]?.child.kill('SIGSTOP');
    },
    wake: (index: number) => {
      frozen = undefined;
      replicas[index]?.child.kill('SIGCONT');
    },
    /** A process is killed, and another one takes its place. */
    replace: async (index: number) => {
      replicas[index]?.child.kill('SIGKILL');
      await replicas[index]?.ended;
      replicas[index] = await startOne(`${names[index]}${Date.now()}`);
    },
    stop: async () => {
      for (const { child } of replicas) child.kill('SIGCONT');
      await world.endAll();
      await world.database.drop();
    },
  };
}

export type FireProcesses = Awaited<ReturnType<typeof startFireProcesses>>;

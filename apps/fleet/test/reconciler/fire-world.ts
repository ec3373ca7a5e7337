import { startPodman } from '@svc/testing/podman';
import { startProcessWorld } from '../process-world.ts';
import { type Fate, startEngineProxy } from './engine-proxy.ts';
import { WATCH_WRITES } from './fire-watch.ts';
import { eventually, SLEEPER } from './world.ts';

/** How requests go wrong, as often as they stand here; few hang, as each holds up a worker for long. */
const WRONG: readonly Fate[] = [
  ...Array<Fate>(24).fill('refused'),
  ...Array<Fate>(12).fill('reset'),
  ...Array<Fate>(12).fill('lost'),
  'hangs',
];

/** What becomes of a request where a share of them goes wrong. */
const anyFate = (share: number): Fate =>
  Math.random() < share ? (WRONG[Math.floor(Math.random() * WRONG.length)] ?? 'refused') : 'passed';

/** Three processes of the fleet, and a Podman behind a proxy that can misbehave. */
export async function startFireWorld() {
  const world = await startProcessWorld();
  const podman = await startPodman();
  const proxy = await startEngineProxy(podman.endpoint);
  const startOne = (name: string) =>
    world.startFleet({
      DATABASE_URL: `${world.database.url}?options=${encodeURIComponent(`-c fire.process=${name}`)}`,
      OUTBOUND_ALLOW: 'http,loopback,unix',
      RATE_LIMIT: 'off',
    });
  const names = ['a', 'b', 'c'];
  let frozen: number | undefined;
  const replicas = [await startOne('a')];
  replicas.push(...(await Promise.all([startOne('b'), startOne('c')])));
  const { secret } = await world.createToken('admin');
  await world.query(WATCH_WRITES);

  const made = async (path: string, body: object) => {
    const answer = await fetch(`${replicas[0]?.url}/api/v1/${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (answer.status !== 201) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    const [it] = Object.values((await answer.json()) as Record<string, { readonly id: string }>);
    return it ?? { id: '' };
  };
  const gpus = [0, 1, 2, 3].map((number) => ({ id: `gpu-${number}`, model: 'any', vram: '24Gi' }));
  const host = await made('hosts', { name: 'machine', engine: 'podman', endpoint: proxy.endpoint, gpus });
  await eventually('the host is online', async () => {
    const [row] = await world.query('SELECT reachability FROM hosts');
    return row.reachability === 'online';
  });
  const plain = { ...SLEEPER, env: [{ name: 'ROUND', value: '0' }] };
  const workloads = {
    plain: (await made('workloads', { name: 'plain', ...plain })).id,
    port: (await made('workloads', { name: 'port', ...plain, ports: [{ containerPort: 80 }] })).id,
    gpu: (await made('workloads', { name: 'gpu', ...plain, gpu_count: 1 })).id,
  };

  return {
    ...{ query: world.query, podman, proxy, secret, hostId: host.id, workloads },
    /** One of those that are there, and now and then one that is frozen. */
    url: () => {
      const there = replicas.filter((_, index) => index !== frozen || Math.random() < 0.1);
      return there[Math.floor(Math.random() * there.length)]?.url ?? '';
    },
    /** The host is away, is known to be, and is back: whatever waits after a failure is due then. */
    beAwayForAWhile: async () => {
      await proxy.goAway();
      proxy.fate(() => 'passed');
      await eventually('the host is known to be away', async () => {
        const [row] = await world.query('UPDATE hosts SET check_at = least(check_at, now()) RETURNING reachability');
        return row.reachability === 'unreachable';
      });
      await proxy.comeBack();
    },
    misbehave: (share: number) => proxy.fate(() => anyFate(share)),
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
      await proxy.stop();
      await podman.stop();
      await world.database.drop();
    },
  };
}

import { startEngine } from '@svc/testing/engine';
import { startEngineProxy } from './engine-proxy.ts';
import { anyFate } from './fates.ts';
import { startFireProcesses } from './fire-processes.ts';
import { eventually } from './words.ts';
import { SLEEPER } from './world.ts';

/** Three processes of the fleet, and a Podman behind a proxy that can misbehave. */
export async function startFireWorld() {
  const podman = await startEngine();
  const proxy = await startEngineProxy(podman.endpoint);
  const processes = await startFireProcesses({ OUTBOUND_ALLOW: 'http,loopback,unix' });
  const { made, query } = processes;
  const gpus = [0, 1, 2, 3].map((number) => ({ id: `gpu-${number}`, model: 'any', vram: '24Gi' }));
  const host = await made('hosts', { name: 'machine', engine: podman.kind, endpoint: proxy.endpoint, gpus });
  await eventually('the host is online', async () => {
    const [row] = await query('SELECT reachability FROM hosts');
    return row.reachability === 'online';
  });
  const plain = { ...SLEEPER, env: [{ name: 'ROUND', value: '0' }] };
  const workloads = {
    plain: (await made('workloads', { name: 'plain', ...plain })).id,
    port: (await made('workloads', { name: 'port', ...plain, ports: [{ containerPort: 80 }] })).id,
    gpu: (await made('workloads', { name: 'gpu', ...plain, gpu_count: 1 })).id,
  };

  return {
    ...{ ...processes, podman, proxy, target: { host_id: host.id }, workloads },
    /** The host is away, is known to be, and is back: whatever waits after a failure is due then. */
    beAwayForAWhile: async () => {
      await proxy.goAway();
      proxy.fate(() => 'passed');
      await eventually('the host is known to be away', async () => {
        const [row] = await query('UPDATE hosts SET check_at = least(check_at, now()) RETURNING reachability');
        return row.reachability === 'unreachable';
      });
      await proxy.comeBack();
    },
    misbehave: (share: number) => proxy.fate(() => anyFate(share)),
    stop: async () => {
      await processes.stop();
      await proxy.stop();
      await podman.stop();
    },
  };
}

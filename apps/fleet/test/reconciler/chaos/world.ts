import { eventually } from '@svc/testing';
import { startEngine } from '@svc/testing/engine';
import type { ReconcilerTimings } from '../../../src/reconciler/timings.ts';
import { startEngineProxy } from '../hosts/engine-proxy.ts';
import { SLEEPER } from '../hosts/world.ts';
import { randomFault } from '../proxy-faults.ts';
import { startChaosProcesses } from './processes.ts';

/** Three processes of the fleet, and a container engine behind a proxy that can inject faults. */
export async function startChaosWorld(timings: ReconcilerTimings) {
  const podman = await startEngine();
  const proxy = await startEngineProxy(podman.endpoint);
  const processes = await startChaosProcesses({ environment: { OUTBOUND_ALLOW: 'http,loopback,unix' }, timings });
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
    ...processes,
    podman,
    proxy,
    target: { host_id: host.id },
    workloads,
    /**
     * Makes the host unreachable and then online again. This makes all deployments due, also those
     * in backoff.
     */
    beAwayForAWhile: async () => {
      await proxy.stopListening();
      proxy.setFault(() => 'passed');
      await eventually('the host is unreachable', async () => {
        const [row] = await query('UPDATE hosts SET check_at = least(check_at, now()) RETURNING reachability');
        return row.reachability === 'unreachable';
      });
      await proxy.startListening();
    },
    misbehave: (share: number) => proxy.setFault(() => randomFault(share)),
    stop: async () => {
      await processes.stop();
      await proxy.stop();
      await podman.stop();
    },
  };
}

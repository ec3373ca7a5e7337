import { eventually } from '@svc/testing';
import type { ReconcilerTimings } from '../../../src/reconciler/timings.ts';
import { startApiServer } from '../../engines/kubernetes/api-server.ts';
import { startClusterProxy } from '../clusters/proxy.ts';
import { aNode } from '../clusters/world.ts';
import { randomFault } from '../proxy-faults.ts';
import { startChaosProcesses } from './processes.ts';

const CHECK = /\/(?:version|nodes|storageclasses|selfsubjectaccessreviews|namespaces\/(?:fleet|kube-system))(?:\?|$)/;
const SLOWNESS_MS = 150;
const CAPACITY = { cpu: '1000', memory: '4000Gi' };

/** Three processes of the fleet, and an API server behind a proxy that can inject faults. */
export async function startClusterChaosWorld(timings: ReconcilerTimings) {
  const server = await startApiServer();
  server.put('nodes', aNode('node-1', { capacity: CAPACITY, allocatable: CAPACITY }));
  const proxy = await startClusterProxy(server);
  const processes = await startChaosProcesses({ environment: { OUTBOUND_ALLOW: 'loopback' }, timings });
  const { made, query } = processes;
  const auth = { kind: 'token', token: proxy.token };
  const { id } = await made('clusters', { name: 'lab', server: proxy.url, ca_certificate: proxy.ca, auth });
  const clusterIs = (reachability: string) =>
    eventually(`the cluster is ${reachability}`, async () => {
      const [row] = await query('UPDATE clusters SET check_at = least(check_at, now()) RETURNING reachability');
      return row.reachability === reachability;
    });
  await clusterIs('online');
  await made('secrets', { name: 'pass', values: { PASSWORD: 'geheim' } });
  const plain = { image_name: 'team/plain', image_tag: '1', env: [{ name: 'ROUND', value: '0' }] };
  const secret_refs = [{ name: 'pass', env: 'PASSWORD' }];
  const volume_mounts = [{ name: 'data', mountPath: '/data' }];
  const workloads = {
    plain: (await made('workloads', { name: 'plain', ...plain })).id,
    port: (await made('workloads', { name: 'port', ...plain, secret_refs, ports: [{ containerPort: 80 }] })).id,
    volume: (await made('workloads', { name: 'volume', ...plain, volume_mounts })).id,
  };

  return {
    ...processes,
    server,
    proxy,
    target: { cluster_id: id },
    workloads,
    /**
     * Makes the cluster unreachable and then online again. This makes all deployments due, also
     * those in backoff.
     */
    beAwayForAWhile: async () => {
      await proxy.stopListening();
      proxy.setFault(() => 'passed');
      proxy.slow(0);
      await clusterIs('unreachable');
      await proxy.startListening();
      await clusterIs('online');
    },
    /**
     * Requests of a check fail less often: a check has about twenty, and no deployment is
     * reconciled after a failed check. All requests are slow, so that a process is frozen or killed
     * in the middle of a reconciliation.
     */
    misbehave: (share: number) => {
      proxy.slow(SLOWNESS_MS);
      proxy.setFault((request) => randomFault(CHECK.test(request) ? share / 20 : share));
    },
    stop: async () => {
      await processes.stop();
      await proxy.stop();
      await server.stop();
    },
  };
}

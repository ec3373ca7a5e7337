// The test cluster (infra/cluster) with a fleet that reconciles, for tests that cause failures.
import { request } from 'node:http';
import path from 'node:path';
import { eventually } from '@svc/testing';
import type { TestCluster } from '@svc/testing/cluster';
import { callerOf } from '../../../../../../infra/cluster/lab/caller.mjs';
import { aNamespace, aRealCluster, startFleetOn } from '../any-cluster.ts';
import { type Kube, kubeOf, MERGE } from './kube.ts';
import { createPlaces, type Places } from './places.ts';

export interface Lab extends Places {
  readonly fleet: Awaited<ReturnType<typeof startFleetOn>>;
  readonly kube: Kube;
  /** Stops and starts programs and nodes of the test cluster, such as `kube-apiserver` and `node1/kubelet`. */
  readonly control: (name: string, action: 'start' | 'stop' | 'kill') => Promise<void>;
  /** The names of the real nodes. */
  readonly nodes: readonly string[];
  readonly stop: () => Promise<void>;
}

/** A function that sends a request to the socket with which tests stop and start programs of the test cluster. */
function controlOf(socketPath: string) {
  return (name: string, action: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const sent = request({ socketPath, method: 'POST', path: `/${name}/${action}` }, async (response) => {
        const text = Buffer.concat(await response.toArray()).toString('utf8');
        if (response.statusCode === 200) resolve();
        else reject(new Error(`${name}/${action} responded with ${response.statusCode}: ${text}`));
      });
      sent.on('error', reject);
      sent.end();
    });
}

/** Connects to the test cluster, and starts a fleet. */
export async function startLab(cluster: TestCluster): Promise<Lab> {
  const { server, ca_certificate: ca, auth } = cluster;
  if (auth.kind !== 'token' || ca === null) throw new Error('the kubeconfig needs a token and a CA');
  const kube = kubeOf(callerOf({ server, ca, token: auth.token }));
  const base = aRealCluster(cluster, aNamespace());
  await kube('POST', '/api/v1/namespaces', { metadata: { name: base.address.namespace } });
  const fleet = await startFleetOn(base, []);
  const { items } = await kube('GET', '/api/v1/nodes');
  const nodes = items
    .filter(({ metadata }: Named) => metadata.labels?.['cluster.test/simulated'] === undefined)
    .map(({ metadata }: Named) => metadata.name);
  const places = createPlaces({ fleet, kube, server, ca, token: auth.token });
  return {
    ...places,
    fleet,
    kube,
    nodes,
    control: controlOf(path.join(path.dirname(process.env.FLEET_TEST_KUBECONFIG ?? ''), 'control.sock')),
    stop: async () => {
      await fleet.stop();
      await base.stop();
    },
  };
}

interface Named {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
}

interface PodOnNode extends Named {
  readonly metadata: Named['metadata'] & { readonly namespace: string; readonly deletionTimestamp?: string };
}

export const cordon = (kube: Kube, node: string, unschedulable: boolean): Promise<unknown> =>
  kube('PATCH', `/api/v1/nodes/${node}`, { spec: { unschedulable } }, MERGE);

/** Sets the taints of a node. */
export const taint = (kube: Kube, node: string, taints: readonly object[]): Promise<unknown> =>
  kube('PATCH', `/api/v1/nodes/${node}`, { spec: { taints } }, MERGE);

/**
 * Drains a node as `kubectl drain --pod-selector` does: cordons it, evicts the pods of the fleet in a namespace, again
 * while a budget forbids it, and waits until they are gone. @returns the evictions: the time of each, and how often it was refused
 */
export async function drain(kube: Kube, node: string, namespace: string): Promise<Eviction[]> {
  await cordon(kube, node, true);
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const listed = async (): Promise<PodOnNode[]> =>
    (await kube('GET', `${pods}?fieldSelector=spec.nodeName=${node}&labelSelector=fleet/deployment`)).items;
  const evictions = await Promise.all((await listed()).map(({ metadata: { name } }) => evict(kube, namespace, name)));
  await eventually('the evicted pods are gone', async () => (await listed()).length === 0, { withinMs: 120_000 });
  return evictions;
}

export interface Eviction {
  readonly pod: string;
  readonly at: number;
  readonly refused: number;
}

/** Evicts a pod as soon as the budgets permit it. */
async function evict(kube: Kube, namespace: string, pod: string): Promise<Eviction> {
  const body = { apiVersion: 'policy/v1beta1', kind: 'Eviction', metadata: { name: pod, namespace } };
  let refused = 0;
  await eventually(
    `the pod ${pod} is evicted`,
    async () => {
      const { status, body: answer } = await kube.ask(
        'POST',
        `/api/v1/namespaces/${namespace}/pods/${pod}/eviction`,
        body,
      );
      if (status === 429) refused += 1;
      else if (status >= 300 && status !== 404)
        throw new Error(`the eviction responded with ${JSON.stringify(answer)}`);
      return status !== 429;
    },
    { withinMs: 180_000 },
  );
  return { pod, at: Date.now(), refused };
}

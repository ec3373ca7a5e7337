import { randomBytes } from 'node:crypto';
import { runPeriodically } from '@svc/http';
import { podsForNewNodes } from '../../../../../infra/cluster/nodes/pool.mjs';
import type { KubernetesClient } from '../../../src/engines/kubernetes/client.ts';

/** A pool of nodes of an autoscaler. */
export interface Pool {
  readonly name: string;
  /** Quantities by resource. */
  readonly capacity: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly { readonly key: string; readonly value: string; readonly effect: string }[];
  /** The largest number of nodes. */
  readonly max: number;
}

const POOL = 'cluster.test/pool';
const INTERVAL_MS = 200;

/** An autoscaler that runs until it is stopped. */
export interface Autoscaler {
  /** The names of the nodes that it has added. */
  readonly added: readonly string[];
  /** @throws the first error of the autoscaler */
  stop(): Promise<void>;
}

/**
 * Adds a simulated node to a pool when a pod is pending that fits an empty node of the pool. In the
 * test cluster (infra/cluster), nodes with the label `cluster.test/simulated` report the status of
 * their pods.
 */
export function startAutoscaler(client: KubernetesClient, pool: Pool): Autoscaler {
  const added: string[] = [];
  const failures: unknown[] = [];
  const adjust = async () => {
    const { core } = await client.apis();
    const nodes = await core.listNode({ labelSelector: `${POOL}=${pool.name}` });
    const pods = await core.listPodForAllNamespaces({});
    for (let left = podsForNewNodes(pool, nodes.items, pods.items).length; left > 0; left -= 1) {
      const name = `${pool.name}-${randomBytes(3).toString('hex')}`;
      await core.createNode({ body: nodeOf(name, pool) });
      added.push(name);
    }
  };
  const task = runPeriodically(0, async () => {
    await adjust().catch((error: unknown) => failures.push(error));
    return INTERVAL_MS;
  });
  return {
    added,
    stop: async () => {
      await task.stop();
      if (failures.length > 0) throw failures[0];
    },
  };
}

const nodeOf = (name: string, { name: pool, capacity, labels, taints }: Pool) => ({
  metadata: {
    name,
    labels: {
      ...labels,
      [POOL]: pool,
      'cluster.test/simulated': 'true',
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'amd64',
    },
  },
  spec: { taints: [...taints] },
  status: {
    capacity: { pods: '110', ...capacity },
    allocatable: { pods: '110', ...capacity },
    conditions: [{ type: 'Ready', status: 'True', reason: 'Simulated', message: '' }],
  },
});

/** Removes the nodes of a pool. */
export async function removeNodes(client: KubernetesClient, names: readonly string[]): Promise<void> {
  const { core } = await client.apis();
  for (const name of names) await core.deleteNode({ name });
}

import { type PeriodicTask, runPeriodically } from '@svc/http';
import type { DockerClient } from '../engines/docker/client.ts';
import { watchDeployments as watchHost } from '../engines/docker/watch.ts';
import type { KubernetesClient } from '../engines/kubernetes/client.ts';
import { watchDeployments as watchCluster } from '../engines/kubernetes/watch.ts';
import { collectChanges } from './changed.ts';
import type { ReconcilerContext } from './targets.ts';

interface Watched {
  readonly client: DockerClient | KubernetesClient;
  readonly rounds: PeriodicTask;
}

/** The columns that the clients depend on. */
const COMMON = { id: true, sealed: true, by_admin: true } as const;
const HOST_COLUMNS = { ...COMMON, engine: true, endpoint: true } as const;
const CLUSTER_COLUMNS = {
  ...COMMON,
  server: true,
  ca_certificate: true,
  namespace: true,
  gpu_resource_name: true,
  disruption_budgets: true,
  network_policies: true,
} as const;

/**
 * Watches all hosts and clusters that are online until stopped, so that a change on a target is
 * reconciled soon instead of after its next check or the next resync. Watches are an optimization,
 * so each process has its own: one stream of events per host, and one watch per resource of a
 * cluster.
 */
export function startWatches(context: ReconcilerContext): PeriodicTask {
  const { database, hosts, clusters, log, timings } = context;
  const watched = new Map<string, Watched>();
  const changes = collectChanges(context);
  const stopWatching = async (id: string) => {
    const rounds = watched.get(id)?.rounds;
    watched.delete(id);
    await rounds?.stop();
  };
  /**
   * Watches a target with this client. A client is replaced when its address or credentials change.
   */
  const watch = async <C extends Watched['client']>(
    id: string,
    client: C,
    start: (client: C, changed: (deploymentId: string) => void) => PeriodicTask,
  ) => {
    if (watched.get(id)?.client === client) return;
    await stopWatching(id);
    watched.set(id, { client, rounds: start(client, (deploymentId) => changes.report(id, deploymentId)) });
  };
  const rounds = runPeriodically(0, async () => {
    try {
      const where = { reachability: 'online' as const };
      const online = {
        hosts: await database.client.host.findMany({ where, select: HOST_COLUMNS }),
        clusters: await database.client.cluster.findMany({ where, select: CLUSTER_COLUMNS }),
      };
      const ids = new Set([...online.hosts, ...online.clusters].map(({ id }) => id));
      await Promise.all([...watched.keys()].filter((id) => !ids.has(id)).map(stopWatching));
      // Credentials that cannot be decrypted do not prevent the watches of other targets.
      const started = await Promise.allSettled([
        ...online.hosts.map(async (host) => watch(host.id, await hosts.of(host), watchHost)),
        ...online.clusters.map(async (cluster) => watch(cluster.id, await clusters.of(cluster), watchCluster)),
      ]);
      const failed = started.filter((each) => each.status === 'rejected');
      if (failed[0]) log.warn({ err: failed[0].reason, targets: failed.length }, 'starting watches failed; will retry');
    } catch (error) {
      log.warn({ err: error }, 'searching for targets to watch failed; will retry');
    }
    return timings.watches;
  });
  return {
    stop: async () => {
      await rounds.stop();
      await Promise.all([...watched.keys()].map(stopWatching));
      await changes.stop();
    },
  };
}

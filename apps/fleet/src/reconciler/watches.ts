import { type PeriodicTask, runPeriodically } from '@svc/http';
import { watchDeployments } from '../engines/kubernetes/watch.ts';
import type { Cluster } from '../generated/prisma/client.ts';
import { isUuid } from '../resources/kind.ts';
import type { ReconcilerContext } from './targets.ts';

interface Watched {
  readonly client: Awaited<ReturnType<ReconcilerContext['clusters']['of']>>;
  readonly rounds: PeriodicTask;
}

/**
 * Watches all clusters that are online until stopped, so that a change in a cluster is reconciled soon instead of at the next
 * resync. Watches are an optimization, so each process has its own.
 */
export function startWatches(context: ReconcilerContext): PeriodicTask {
  const { database, log, timings } = context;
  const watched = new Map<string, Watched>();
  const stopWatching = async (id: string) => {
    const rounds = watched.get(id)?.rounds;
    watched.delete(id);
    await rounds?.stop();
  };
  const watchCluster = async (cluster: Cluster) => {
    const client = await context.clusters.of(cluster);
    if (watched.get(cluster.id)?.client === client) return;
    await stopWatching(cluster.id);
    watched.set(cluster.id, {
      client,
      rounds: watchDeployments(client, (deploymentId) => void reconcileSoon(context, deploymentId)),
    });
  };
  const rounds = runPeriodically(0, async () => {
    try {
      const online = await database.client.cluster.findMany({ where: { reachability: 'online' } });
      const unreachable = [...watched.keys()].filter((id) => !online.some((cluster) => cluster.id === id));
      await Promise.all(unreachable.map(stopWatching));
      for (const cluster of online) await watchCluster(cluster);
    } catch (error) {
      log.warn({ err: error }, 'starting cluster watches failed; will retry');
    }
    return timings.watches;
  });
  return {
    stop: async () => {
      await rounds.stop();
      await Promise.all([...watched.keys()].map(stopWatching));
    },
  };
}

/** Makes a deployment due, unless a worker is reconciling it, it is due soon, or its last pass failed. */
async function reconcileSoon(
  { database: { client }, log, timings }: ReconcilerContext,
  deploymentId: string,
): Promise<void> {
  if (!isUuid(deploymentId)) return;
  const seconds = timings.afterChange / 1000;
  try {
    await client.$executeRaw`
      UPDATE deployments SET due_at = now() + make_interval(secs => ${seconds})
      WHERE id = ${deploymentId}::uuid AND due_at > now() + make_interval(secs => ${seconds}) AND lease_owner IS NULL AND failures = 0`;
  } catch (error) {
    log.warn(
      { err: error, deployment: deploymentId },
      'scheduling a changed deployment failed; will be reconciled at the next resync',
    );
  }
}

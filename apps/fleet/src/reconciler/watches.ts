import { inRounds, type Rounds } from '@svc/http';
import { keepWatching as watch } from '../engines/kubernetes/watch.ts';
import type { Cluster } from '../generated/prisma/client.ts';
import { isUuid } from '../resources/kind.ts';
import type { Tools } from './targets.ts';

interface Watched {
  readonly client: Awaited<ReturnType<Tools['clusters']['of']>>;
  readonly rounds: Rounds;
}

/**
 * Watches clusters that are there, until stopped: what changes in one is looked at soon, rather than in the next round. Nothing
 * depends on it, so each process watches for itself.
 */
export function keepWatching(tools: Tools): Rounds {
  const { database, log, timings } = tools;
  const watched = new Map<string, Watched>();
  const leave = async (id: string) => {
    const rounds = watched.get(id)?.rounds;
    watched.delete(id);
    await rounds?.stop();
  };
  const see = async (cluster: Cluster) => {
    const client = await tools.clusters.of(cluster);
    if (watched.get(cluster.id)?.client === client) return;
    await leave(cluster.id);
    watched.set(cluster.id, { client, rounds: watch(client, (deploymentId) => void lookSoon(tools, deploymentId)) });
  };
  const rounds = inRounds(0, async () => {
    try {
      const online = await database.client.cluster.findMany({ where: { reachability: 'online' } });
      const away = [...watched.keys()].filter((id) => !online.some((cluster) => cluster.id === id));
      await Promise.all(away.map(leave));
      for (const cluster of online) await see(cluster);
    } catch (error) {
      log.warn({ err: error }, 'clusters are not watched for now; their deployments are looked at in rounds');
    }
    return timings.watches;
  });
  return {
    stop: async () => {
      await rounds.stop();
      await Promise.all([...watched.keys()].map(leave));
    },
  };
}

/** One that has just been worked on is due soon anyway, or has caused this itself. */
async function lookSoon({ database: { client }, log, timings }: Tools, deploymentId: string): Promise<void> {
  if (!isUuid(deploymentId)) return;
  const seconds = timings.afterChange / 1000;
  try {
    await client.$executeRaw`
      UPDATE deployments SET due_at = now() + make_interval(secs => ${seconds})
      WHERE id = ${deploymentId}::uuid AND due_at > now() + make_interval(secs => ${seconds}) AND lease_owner IS NULL AND failures = 0`;
  } catch (error) {
    log.warn({ err: error, deployment: deploymentId }, 'a change could not be noted; it is seen in the next round');
  }
}

import { inRounds, type Rounds } from '@svc/http';
import { noteDeparted } from '../deployments/tombstones.ts';
import { removeVolume as removeFromHost } from '../engines/docker/volumes.ts';
import { Unreachable } from '../engines/errors.ts';
import { removeVolume as removeFromCluster } from '../engines/kubernetes/cleanup.ts';
import type { Cluster, Host, Volume } from '../generated/prisma/client.ts';
import { volumeName } from '../render/labels.ts';
import type { Tools } from './targets.ts';

const ONLINE = { reachability: 'online' } as const;

/** Removes volumes that somebody deleted from where they are, until stopped. Done twice it does no harm. */
export function keepRemoving(tools: Tools): Rounds {
  const { database, log, timings } = tools;
  return inRounds(timings.volumes, async () => {
    try {
      const volumes = await database.client.volume.findMany({
        where: { phase: 'deleting', OR: [{ host: ONLINE }, { cluster: ONLINE }] },
        include: { host: true, cluster: true },
        orderBy: { updated_at: 'asc' },
        take: 20,
      });
      await Promise.all(volumes.map((volume) => removeOne(tools, volume)));
    } catch (error) {
      log.warn({ err: error }, 'deleted volumes could not be removed; tried again');
    }
    return timings.volumes;
  });
}

interface Placed extends Volume {
  readonly host: Host | null;
  readonly cluster: Cluster | null;
}

/** One that can't be removed yet is the last in line next time: it holds up no other. */
async function removeOne({ database: { client }, hosts, clusters, log }: Tools, volume: Placed): Promise<void> {
  const where = { id: volume.id, phase: 'deleting' as const };
  try {
    if (volume.host) await removeFromHost(await hosts.of(volume.host), volumeName(volume));
    if (volume.cluster) await removeFromCluster(await clusters.of(volume.cluster), volumeName(volume));
    await client.$transaction([noteDeparted(client, volume, [volume.id]), client.volume.deleteMany({ where })]);
  } catch (error) {
    if (!(error instanceof Unreachable))
      log.warn({ err: error, volume: volume.name }, 'a deleted volume could not be removed; tried again');
    await client.volume.updateMany({ where, data: { updated_at: new Date() } });
  }
}

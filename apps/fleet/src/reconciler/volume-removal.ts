import { type PeriodicTask, runPeriodically } from '@svc/http';
import { recordTombstones } from '../deployments/store.ts';
import { removeVolume as removeFromHost } from '../engines/docker/objects/volumes.ts';
import { Unreachable } from '../engines/errors.ts';
import { removeVolume as removeFromCluster } from '../engines/kubernetes/cleanup.ts';
import type { Cluster, Host, Volume } from '../generated/prisma/client.ts';
import { volumeName } from '../render/labels.ts';
import type { ReconcilerContext } from './targets.ts';

const ONLINE = { reachability: 'online' } as const;

/** Removes deleted volumes from their targets until stopped. Removal is idempotent. */
export function startVolumeRemoval(context: ReconcilerContext): PeriodicTask {
  const { database, log, timings } = context;
  return runPeriodically(timings.volumes, async () => {
    try {
      const volumes = await database.client.volume.findMany({
        where: { phase: 'deleting', OR: [{ host: ONLINE }, { cluster: ONLINE }] },
        include: { host: true, cluster: true },
        orderBy: { updated_at: 'asc' },
        take: 20,
      });
      await Promise.all(volumes.map((volume) => removeOne(context, volume)));
    } catch (error) {
      log.warn({ err: error }, 'removal of deleted volumes failed; will retry');
    }
    return timings.volumes;
  });
}

interface VolumeOnTarget extends Volume {
  readonly host: Host | null;
  readonly cluster: Cluster | null;
}

/**
 * Removes a volume. A volume that cannot be removed yet moves to the end of the queue, so that it
 * does not delay the others.
 */
async function removeOne(
  { database: { client }, hosts, clusters, log }: ReconcilerContext,
  volume: VolumeOnTarget,
): Promise<void> {
  const where = { id: volume.id, phase: 'deleting' as const };
  try {
    if (volume.host) await removeFromHost(await hosts.of(volume.host), volumeName(volume));
    if (volume.cluster) await removeFromCluster(await clusters.of(volume.cluster), volumeName(volume));
    await client.$transaction([recordTombstones(client, volume, [volume.id]), client.volume.deleteMany({ where })]);
  } catch (error) {
    if (!(error instanceof Unreachable))
      log.warn({ err: error, volume: volume.name }, 'removal of a deleted volume failed; will retry');
    await client.volume.updateMany({ where, data: { updated_at: new Date() } });
  }
}

import { inRounds, type Rounds } from '@svc/http';
import { removeVolume } from '../engines/docker/volumes.ts';
import { Unreachable } from '../engines/errors.ts';
import type { Host, Volume } from '../generated/prisma/client.ts';
import { volumeName } from '../render/names.ts';
import { noteDeparted } from './departed.ts';
import type { Tools } from './hosts.ts';

const ROUND_MS = 2000;

/** Removes volumes that somebody deleted from the hosts where they are, until stopped. Done twice it does no harm. */
export function keepRemoving(tools: Tools): Rounds {
  const { database, log } = tools;
  return inRounds(ROUND_MS, async () => {
    try {
      const volumes = await database.client.volume.findMany({
        where: { phase: 'deleting', host: { reachability: 'online' } },
        include: { host: true },
        orderBy: { updated_at: 'asc' },
        take: 20,
      });
      await Promise.all(volumes.map(({ host, ...volume }) => host && removeOne(tools, volume, host)));
    } catch (error) {
      log.warn({ err: error }, 'deleted volumes could not be removed; tried again');
    }
    return ROUND_MS;
  });
}

/** One that can't be removed yet is the last in line next time: it holds up no other. */
async function removeOne({ database: { client }, engines, log }: Tools, volume: Volume, host: Host): Promise<void> {
  const where = { id: volume.id, phase: 'deleting' as const };
  try {
    await removeVolume(await engines.of(host), volumeName(volume));
    await client.$transaction([noteDeparted(client, host.id, [volume.id]), client.volume.deleteMany({ where })]);
  } catch (error) {
    if (!(error instanceof Unreachable))
      log.warn({ err: error, volume: volume.name }, 'a deleted volume could not be removed; tried again');
    await client.volume.updateMany({ where, data: { updated_at: new Date() } });
  }
}

import { sweep as sweepHost } from '../engines/docker/cleanup.ts';
import { EngineFailure } from '../engines/errors.ts';
import { sweep as sweepCluster } from '../engines/kubernetes/cleanup.ts';
import type { Place, Tools } from './targets.ts';

/** Removes from a place what came to be there after its end. */
export async function clearDeparted({ database, hosts, clusters, log }: Tools, place: Place): Promise<void> {
  const where = place.kind === 'host' ? { host_id: place.row.id } : { cluster_id: place.row.id };
  const rows = await database.client.departed.findMany({ where, select: { id: true } });
  if (rows.length === 0) return;
  const gone = new Set(rows.map(({ id }) => id));
  const told = { [place.kind]: place.row.name };
  try {
    const actions =
      place.kind === 'host'
        ? await sweepHost(await hosts.of(place.row), gone)
        : await sweepCluster(await clusters.of(place.row), gone);
    if (actions.length > 0) log.warn({ ...told, actions }, 'what came to be after its end was removed');
  } catch (error) {
    if (!(error instanceof EngineFailure)) throw error;
    log.warn({ ...told, err: error }, 'what is gone could not be looked for; tried again');
  }
}

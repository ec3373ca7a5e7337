import { removeOrphans as sweepHost } from '../engines/docker/cleanup.ts';
import { EngineFailure } from '../engines/errors.ts';
import { removeOrphans as sweepCluster } from '../engines/kubernetes/cleanup.ts';
import type { ReconcilerContext, TargetRow } from './targets.ts';

/** Removes objects of deleted deployments and volumes from a target, if a delayed request created them again. */
export async function clearTombstones(
  { database, hosts, clusters, log }: ReconcilerContext,
  target: TargetRow,
): Promise<void> {
  const where = target.kind === 'host' ? { host_id: target.row.id } : { cluster_id: target.row.id };
  const rows = await database.client.tombstone.findMany({ where, select: { id: true } });
  if (rows.length === 0) return;
  const deletedIds = new Set(rows.map(({ id }) => id));
  const fields = { [target.kind]: target.row.name };
  try {
    const actions =
      target.kind === 'host'
        ? await sweepHost(await hosts.of(target.row), deletedIds)
        : await sweepCluster(await clusters.of(target.row), deletedIds);
    if (actions.length > 0) log.warn({ ...fields, actions }, 'removed orphaned objects');
  } catch (error) {
    if (!(error instanceof EngineFailure)) throw error;
    log.warn({ ...fields, err: error }, 'orphan sweep failed; will retry');
  }
}

import { fleetEndpoints } from '@svc/contract/fleet';
import { adoptOrphan, removeOrphan } from '../../deployments/orphans.ts';
import { clusters } from '../../resources/clusters.ts';
import { readRow } from '../../resources/kind.ts';
import { listOrphans } from '../../resources/orphans.ts';
import { changeRoute } from '../request/change.ts';
import { route } from '../request/context.ts';

export const listClusterOrphans = route(fleetEndpoints.listClusterOrphans, async ({ database }, { params, query }) => {
  const { id } = await readRow(database.client, clusters, params.id);
  return listOrphans(database.client, { kind: 'cluster', id }, query);
});

export const removeClusterOrphan = changeRoute(fleetEndpoints.removeClusterOrphan, async (context, { params }) => {
  const { id } = await readRow(context.transaction, clusters, params.id);
  return removeOrphan(context, { kind: 'cluster', id }, params.orphan_id);
});

export const adoptClusterOrphan = changeRoute(fleetEndpoints.adoptClusterOrphan, async (context, { params, body }) => {
  const { id } = await readRow(context.transaction, clusters, params.id);
  return adoptOrphan(context, { target: { kind: 'cluster', id }, orphanId: params.orphan_id, ...body });
});

import { fleetEndpoints } from '@svc/contract/fleet';
import { adoptOrphan, removeOrphan } from '../../deployments/orphans.ts';
import { hosts } from '../../resources/hosts.ts';
import { readRow } from '../../resources/kind.ts';
import { listOrphans } from '../../resources/orphans.ts';
import { refuseNode } from '../hosts.ts';
import { changeRoute } from '../request/change.ts';
import { route } from '../request/context.ts';

export const listHostOrphans = route(fleetEndpoints.listHostOrphans, async ({ database }, { params, query }) => {
  await refuseNode(database.client, params.id);
  const { id } = await readRow(database.client, hosts, params.id);
  return listOrphans(database.client, { kind: 'host', id }, query);
});

export const removeHostOrphan = changeRoute(fleetEndpoints.removeHostOrphan, async (context, { params }) => {
  await refuseNode(context.transaction, params.id);
  const { id } = await readRow(context.transaction, hosts, params.id);
  return removeOrphan(context, { kind: 'host', id }, params.orphan_id);
});

export const adoptHostOrphan = changeRoute(fleetEndpoints.adoptHostOrphan, async (context, { params, body }) => {
  await refuseNode(context.transaction, params.id);
  const { id } = await readRow(context.transaction, hosts, params.id);
  return adoptOrphan(context, { target: { kind: 'host', id }, orphanId: params.orphan_id, ...body });
});

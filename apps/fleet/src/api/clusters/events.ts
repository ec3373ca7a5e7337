import { fleetEndpoints } from '@svc/contract/fleet';
import { readEvents } from '../../events/list.ts';
import { clusters } from '../../resources/clusters.ts';
import { readRow } from '../../resources/kind.ts';
import { route } from '../request/context.ts';

export const listClusterEvents = route(fleetEndpoints.listClusterEvents, async ({ database }, { params, query }) => {
  const { id } = await readRow(database.client, clusters, params.id);
  return readEvents(database.client, { ...query, kind: ['clusters'], id: [id] });
});

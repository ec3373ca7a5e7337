import { fleetEndpoints } from '@svc/contract/fleet';
import { readEvents } from '../../events/list.ts';
import { hostsAndNodes } from '../../resources/hosts.ts';
import { readRow } from '../../resources/kind.ts';
import { route } from '../request/context.ts';

export const listHostEvents = route(fleetEndpoints.listHostEvents, async ({ database }, { params, query }) => {
  const { id } = await readRow(database.client, hostsAndNodes, params.id);
  return readEvents(database.client, { ...query, kind: ['hosts'], id: [id] });
});

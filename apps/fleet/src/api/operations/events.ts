import { fleetEndpoints } from '@svc/contract/fleet';
import { readEvents } from '../../events/list.ts';
import { route } from '../request/context.ts';

export const listEvents = route(fleetEndpoints.listEvents, ({ database }, { query }) =>
  readEvents(database.client, query),
);

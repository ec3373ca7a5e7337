import { fleetEndpoints } from '@svc/contract/fleet';
import { route } from '../context.ts';
import { readSyncState } from './sync-state.ts';

export const getSyncState = route(fleetEndpoints.getSyncState, async ({ database, sync }) =>
  readSyncState(database, sync.hub?.url),
);

export const syncCatalog = route(fleetEndpoints.syncCatalog, async ({ database, sync }, { body }) => {
  await sync.run(body);
  return readSyncState(database, sync.hub?.url);
});

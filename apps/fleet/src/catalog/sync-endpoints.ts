import { fleetEndpoints } from '@svc/contract/fleet';
import { refuseUnrecordable } from '../audit/gate.ts';
import { type RequestContext, route } from '../context.ts';
import { readSyncState } from './sync-state.ts';

export const getSyncState = route(fleetEndpoints.getSyncState, (context) => stateOf(context));

/** No transaction of the request's: what could not be recorded is refused before the hub is asked. */
export const syncCatalog = route(fleetEndpoints.syncCatalog, async (context, { body }) => {
  context.recording.isKept = true;
  await refuseUnrecordable(context.database);
  await context.sync.run(body);
  return stateOf(context);
});

const stateOf = async ({ database, settings }: RequestContext) => {
  const { url, api_key } = await settings.hub();
  return readSyncState(database, api_key === undefined ? undefined : (url ?? undefined));
};

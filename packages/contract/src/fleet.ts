import { fleetAuditEndpoints } from './fleet-audit.ts';
import { fleetAuthEndpoints } from './fleet-auth.ts';
import { fleetCatalogEndpoints } from './fleet-catalog.ts';
import { fleetPeopleEndpoints } from './fleet-people.ts';
import { fleetSettingsEndpoints } from './fleet-settings.ts';

export { type FleetAccess, type FleetRole, fleetRoles } from './fleet-access.ts';
export { writeAuditCursor } from './fleet-audit.ts';
export { syncState } from './fleet-catalog.ts';

/** Every operation of the fleet. */
export const fleetEndpoints = {
  ...fleetAuthEndpoints,
  ...fleetCatalogEndpoints,
  ...fleetPeopleEndpoints,
  ...fleetSettingsEndpoints,
  ...fleetAuditEndpoints,
};

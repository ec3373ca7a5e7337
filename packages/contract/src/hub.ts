import { hubAccountEndpoints } from './hub-account.ts';
import { hubAdminAuditEndpoints } from './hub-admin-audit.ts';
import { hubAdminCatalogEndpoints } from './hub-admin-catalog.ts';
import { hubAdminPeopleEndpoints } from './hub-admin-people.ts';
import { hubCatalogEndpoints, hubReaderEndpoints, type ReadUpdates } from './hub-catalog.ts';

/** Rows of the hub's policy table. */
export type HubAccess = 'catalog' | 'organization-key' | 'account' | 'account-change' | 'account-keys' | 'admin';

/** All endpoints of the hub. */
export const hubEndpoints = {
  ...hubCatalogEndpoints,
  ...hubAccountEndpoints,
  ...hubAdminCatalogEndpoints,
  ...hubAdminPeopleEndpoints,
  ...hubAdminAuditEndpoints,
};

export { apiKey, issuedApiKey, MAX_KEYS, managedApiKey } from './api-key.ts';
export { writeAuditCursor } from './audit-cursor.ts';
export { hubTools } from './hub-tools.ts';
export { managedOrganization, managedUser, organization, profile } from './organization.ts';
export { hubCatalogEndpoints, hubReaderEndpoints, type ReadUpdates };

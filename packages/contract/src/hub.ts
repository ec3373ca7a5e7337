import { hubAccessRequestEndpoints } from './hub-access-requests.ts';
import { hubAccountEndpoints } from './hub-account.ts';
import { hubAccountMemberEndpoints } from './hub-account-members.ts';
import { hubAdminAuditEndpoints } from './hub-admin-audit.ts';
import { hubAdminCatalogEndpoints, MAX_PLANNED_ORGANIZATIONS } from './hub-admin-catalog.ts';
import { hubAdminPeopleEndpoints } from './hub-admin-people.ts';
import { hubAuthEndpoints } from './hub-auth.ts';
import { hubCatalogEndpoints, hubReaderEndpoints, type ReadUpdates } from './hub-catalog.ts';

/** All endpoints of the hub. */
export const hubEndpoints = {
  ...hubCatalogEndpoints,
  ...hubAuthEndpoints,
  ...hubAccountEndpoints,
  ...hubAccountMemberEndpoints,
  ...hubAccessRequestEndpoints,
  ...hubAdminCatalogEndpoints,
  ...hubAdminPeopleEndpoints,
  ...hubAdminAuditEndpoints,
};

export { apiKey, issuedApiKey, MAX_KEYS, managedApiKey } from './api-key.ts';
export { writeAuditCursor } from './audit-cursor.ts';
export { type HubAccess, hubAccesses } from './hub-access.ts';
export { MAX_OPEN_REQUESTS } from './hub-access-requests.ts';
export { MAX_INVITATIONS } from './hub-account-members.ts';
export { hubTools } from './hub-tools.ts';
export { managedOrganization, managedUser, organization, profile } from './organization.ts';
export { hubCatalogEndpoints, hubReaderEndpoints, MAX_PLANNED_ORGANIZATIONS, type ReadUpdates };

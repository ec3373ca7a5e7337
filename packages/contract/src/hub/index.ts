import { diagnosisEndpoints, hubBundle } from '../shared/diagnosis.ts';
import { hubAccessRequestEndpoints } from './access-requests.ts';
import { hubAccountEndpoints } from './account.ts';
import { hubAccountMemberEndpoints } from './account-members.ts';
import { hubAdminApplicationEndpoints } from './admin-applications.ts';
import { hubAdminAuditEndpoints } from './admin-audit.ts';
import { hubAdminCatalogEndpoints, MAX_PLANNED_ORGANIZATIONS } from './admin-catalog.ts';
import { hubAdminPeopleEndpoints } from './admin-people.ts';
import { hubAdminRevisionEndpoints, MAX_ADVISORIES, MAX_REVISIONS } from './admin-revisions.ts';
import { hubAuthEndpoints } from './auth.ts';
import {
  FEED_ENTRIES,
  hubCatalogEndpoints,
  hubReaderEndpoints,
  MAX_COUNTED_VALUES,
  type ReadApplicationUpdates,
  type ReadUpdates,
  type TemplateCounts,
} from './catalog.ts';
import { hubPublishEndpoints } from './publish.ts';
import { hubPublisherEndpoints } from './publishers.ts';
import { hubServiceTokenEndpoints } from './service-token.ts';
import { hubWebhookEndpoints } from './webhooks.ts';

/** All endpoints of the hub. */
export const hubEndpoints = {
  ...hubCatalogEndpoints,
  ...hubAuthEndpoints,
  ...hubAccountEndpoints,
  ...hubAccountMemberEndpoints,
  ...hubAccessRequestEndpoints,
  ...hubAdminCatalogEndpoints,
  ...hubAdminRevisionEndpoints,
  ...hubAdminApplicationEndpoints,
  ...hubPublisherEndpoints,
  ...hubAdminPeopleEndpoints,
  ...hubServiceTokenEndpoints,
  ...hubWebhookEndpoints,
  ...hubAdminAuditEndpoints,
  ...diagnosisEndpoints('admin', '/api/v1/admin', hubBundle),
  ...hubPublishEndpoints,
};

export { type AuditPosition, writeAuditCursor, writeAuditPosition } from '../shared/audit-cursor.ts';
export { hubBundle } from '../shared/diagnosis.ts';
export { managedOrganization, managedUser, organization, profile } from '../shared/organization.ts';
export { type HubAccess, hubAccesses } from './access.ts';
export { MAX_OPEN_REQUESTS } from './access-requests.ts';
export { MAX_NEW_ORGANIZATIONS } from './account.ts';
export { MAX_INVITATIONS } from './account-members.ts';
export { apiKey, issuedApiKey, MAX_KEYS, managedApiKey } from './api-key.ts';
export { MAX_PUBLISHED_LEXEMES, publishLimits } from './publish.ts';
export { MAX_KEYRING_CHARACTERS, MAX_PUBLISHERS } from './publishers.ts';
export { MAX_SERVICE_TOKENS, type ServiceScope } from './service-token.ts';
export { hubTools } from './tools.ts';
export type { HubWebhookEvent } from './webhooks.ts';
export {
  FEED_ENTRIES,
  hubCatalogEndpoints,
  hubReaderEndpoints,
  MAX_ADVISORIES,
  MAX_COUNTED_VALUES,
  MAX_PLANNED_ORGANIZATIONS,
  MAX_REVISIONS,
  type ReadApplicationUpdates,
  type ReadUpdates,
  type TemplateCounts,
};

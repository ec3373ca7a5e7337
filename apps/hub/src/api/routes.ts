import { hubEndpoints } from '@svc/contract/hub';
import * as accountAccessRequests from './account/access-requests.ts';
import * as accountApiKeys from './account/api-keys.ts';
import * as accountAudit from './account/audit.ts';
import * as accountInvitations from './account/invitations.ts';
import * as accountMembers from './account/members.ts';
import * as accountOrganizations from './account/organizations.ts';
import * as accountProfile from './account/profile.ts';
import * as adminAccessRequests from './admin/access-requests.ts';
import * as adminApiKeys from './admin/api-keys.ts';
import * as adminApplicationAdvisories from './admin/applications/advisories.ts';
import { readApplicationFile } from './admin/applications/file.ts';
import { restoreApplication } from './admin/applications/restore.ts';
import * as adminApplicationRevisions from './admin/applications/revisions.ts';
import * as adminApplications from './admin/applications.ts';
import { exportAuditEntries, listAuditEntries } from './admin/audit.ts';
import * as adminCatalogAccess from './admin/catalog-access.ts';
import * as adminCategories from './admin/categories.ts';
import { listDeletedApplications } from './admin/deleted-applications.ts';
import { listDeletedTemplates } from './admin/deleted-templates.ts';
import { runDoctor } from './admin/doctor.ts';
import * as adminOrganizations from './admin/organizations.ts';
import * as adminPublishers from './admin/publishers.ts';
import * as adminServiceTokens from './admin/service-tokens.ts';
import { getStats } from './admin/stats.ts';
import { createSupportBundle } from './admin/support-bundle.ts';
import * as adminAdvisories from './admin/templates/advisories.ts';
import { readTemplateFile } from './admin/templates/file.ts';
import { restoreTemplate } from './admin/templates/restore.ts';
import * as adminRevisions from './admin/templates/revisions.ts';
import * as adminTemplates from './admin/templates.ts';
import * as adminUsers from './admin/users.ts';
import { planVisibility } from './admin/visibility/plan.ts';
import * as adminWebhooks from './admin/webhooks.ts';
import { connectProgram } from './auth/connect.ts';
import { exchangeSignInCode } from './auth/exchange.ts';
import * as oidc from './auth/oidc.ts';
import * as browserSession from './auth/session.ts';
import * as ownSessions from './auth/sessions.ts';
import { getAuthConfig } from './auth.ts';
import * as applicationChangelog from './catalog/applications/changelog.ts';
import { listApplicationUpdates } from './catalog/applications/updates.ts';
import { getApplication, listApplications } from './catalog/applications.ts';
import { listCategories } from './catalog/categories.ts';
import { countTemplates } from './catalog/counts.ts';
import { getOwnOrganization } from './catalog/organization.ts';
import { listPublishers } from './catalog/publishers.ts';
import * as changelog from './catalog/templates/changelog.ts';
import { getTemplateIcon } from './catalog/templates/icon.ts';
import { listTemplateUpdates } from './catalog/templates/updates.ts';
import { getTemplate, listTemplates } from './catalog/templates.ts';
import { exportCatalog } from './publish/export.ts';
import { importCatalog } from './publish/import.ts';
import { implement } from './request/context.ts';

/** The routes of all endpoints of the contract. */
export const routes = implement(hubEndpoints, {
  listTemplates,
  listTemplateUpdates,
  getTemplate,
  getTemplateIcon,
  ...changelog,
  ...applicationChangelog,
  listApplications,
  listApplicationUpdates,
  getApplication,
  countTemplates,
  listCategories,
  listPublishers,
  getOwnOrganization,
  getAuthConfig,
  connectProgram,
  exchangeSignInCode,
  ...oidc,
  ...browserSession,
  ...ownSessions,
  ...accountAudit,
  ...accountApiKeys,
  ...accountOrganizations,
  ...accountMembers,
  ...accountInvitations,
  ...accountAccessRequests,
  ...adminAccessRequests,
  ...accountProfile,
  ...adminTemplates,
  ...adminApplications,
  readApplicationFile,
  readTemplateFile,
  listDeletedTemplates,
  ...adminRevisions,
  restoreTemplate,
  listDeletedApplications,
  ...adminApplicationRevisions,
  restoreApplication,
  ...adminApplicationAdvisories,
  ...adminAdvisories,
  ...adminCategories,
  ...adminCatalogAccess,
  ...adminUsers,
  ...adminPublishers,
  planVisibility,
  ...adminOrganizations,
  ...adminApiKeys,
  ...adminServiceTokens,
  ...adminWebhooks,
  importCatalog,
  exportCatalog,
  getStats,
  listAuditEntries,
  exportAuditEntries,
  runDoctor,
  createSupportBundle,
});

/** The frequent reads, which can be handled without Express. */
export const frequentReads = [
  listTemplates,
  listTemplateUpdates,
  getTemplate,
  listApplications,
  listApplicationUpdates,
  getApplication,
  listCategories,
];

/** The reads by which fleets ask for changes. */
export const polls = [listTemplateUpdates, listApplicationUpdates];

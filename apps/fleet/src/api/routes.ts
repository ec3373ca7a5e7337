import { fleetEndpoints } from '@svc/contract/fleet';
import * as applications from './applications.ts';
import { connectProgram } from './auth/connect.ts';
import { acceptInvitation } from './auth/invitation.ts';
import { login } from './auth/login.ts';
import * as oidc from './auth/oidc.ts';
import { changeOwnPassword } from './auth/password.ts';
import * as browserSession from './auth/session.ts';
import * as ownSessions from './auth/sessions.ts';
import * as auth from './auth.ts';
import * as catalog from './catalog.ts';
import * as clusterEvents from './clusters/events.ts';
import * as clusterOrphans from './clusters/orphans.ts';
import * as clusters from './clusters.ts';
import { checkDeploymentImage } from './deployments/check-image.ts';
import { readDeploymentLogs } from './deployments/logs.ts';
import { planDeployment } from './deployments/plan.ts';
import { getDeploymentUsage } from './deployments/usage.ts';
import { revealDeploymentValue } from './deployments/values.ts';
import * as deployments from './deployments.ts';
import { exportDocuments } from './export.ts';
import * as hostEvents from './hosts/events.ts';
import * as hostOrphans from './hosts/orphans.ts';
import * as hosts from './hosts.ts';
import * as audit from './operations/audit.ts';
import { watchChanges } from './operations/changes.ts';
import { runDoctor } from './operations/doctor.ts';
import { listEvents } from './operations/events.ts';
import { createSupportBundle } from './operations/support-bundle.ts';
import * as plans from './plans.ts';
import { implement } from './request/context.ts';
import * as secrets from './secrets.ts';
import * as publishers from './settings/publishers.ts';
import * as trust from './settings/trust.ts';
import * as settings from './settings.ts';
import * as sources from './sources.ts';
import * as storage from './storage.ts';
import * as tokens from './tokens.ts';
import * as updateRuns from './update-runs.ts';
import * as invitations from './users/invitation.ts';
import * as users from './users.ts';
import * as webhooks from './webhooks.ts';
import * as workloads from './workloads.ts';

/** The handlers of all endpoints. */
export const routes = implement(fleetEndpoints, {
  ...auth,
  login,
  connectProgram,
  changeOwnPassword,
  acceptInvitation,
  ...browserSession,
  ...ownSessions,
  ...oidc,
  ...catalog,
  ...users,
  ...invitations,
  ...tokens,
  ...settings,
  ...trust,
  ...sources,
  ...webhooks,
  ...publishers,
  ...audit,
  ...hosts,
  ...clusters,
  ...hostOrphans,
  ...clusterOrphans,
  ...workloads,
  ...deployments,
  planDeployment,
  checkDeploymentImage,
  ...updateRuns,
  ...plans,
  exportDocuments,
  ...applications,
  readDeploymentLogs,
  getDeploymentUsage,
  revealDeploymentValue,
  ...storage,
  ...secrets,
  listEvents,
  ...hostEvents,
  ...clusterEvents,
  watchChanges,
  runDoctor,
  createSupportBundle,
});

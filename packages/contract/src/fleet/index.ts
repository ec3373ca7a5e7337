import { diagnosisEndpoints, fleetBundle } from '../shared/diagnosis.ts';
import { fleetApplicationEndpoints } from './applications/applications.ts';
import { fleetAuditEndpoints } from './audit.ts';
import { fleetAuthEndpoints } from './auth.ts';
import { fleetCatalogEndpoints } from './catalog.ts';
import { fleetChangeEndpoints } from './changes.ts';
import { fleetDeploymentEndpoints } from './deployments/deployments.ts';
import { fleetOrphanEndpoints } from './deployments/orphans.ts';
import { fleetUpdateRunEndpoints } from './deployments/update-runs.ts';
import { fleetWorkloadEndpoints } from './deployments/workloads.ts';
import { fleetEventEndpoints } from './events.ts';
import { fleetPeopleEndpoints } from './people.ts';
import { fleetPlanEndpoints } from './plans/plans.ts';
import { fleetSourceEndpoints } from './plans/sources.ts';
import { fleetClusterEndpoints } from './resources/clusters.ts';
import { fleetHostEndpoints } from './resources/hosts.ts';
import { fleetSecretEndpoints } from './resources/secrets.ts';
import { fleetStorageEndpoints } from './resources/storage.ts';
import { fleetSettingsEndpoints } from './settings.ts';
import { fleetTrustEndpoints } from './trust.ts';
import { fleetWebhookEndpoints } from './webhooks.ts';

export { type AuditPosition, writeAuditCursor, writeAuditPosition } from '../shared/audit-cursor.ts';
export { fleetBundle } from '../shared/diagnosis.ts';
export { workloadMembers } from '../template/fields.ts';
export {
  type ApprovalLevel,
  approvalLevels,
  type FleetAccess,
  type FleetRole,
  fleetAccesses,
  fleetRoles,
} from './access.ts';
export { MAX_INSTANCES } from './applications/application.ts';
export { MAX_OVERRIDES_BYTES, type Overrides, overridesReply } from './applications/overrides.ts';
export {
  type ApplicationUpdates,
  type ApplicationUpdatesInput,
  applicationUpdatesReply,
} from './applications/updates.ts';
export { type Uses, usesReply } from './applications/uses.ts';
export {
  MAX_NETWORK_TYPES_LISTED,
  MAX_SKIPPED_LISTED,
  MAX_UNPACKED_BUNDLE,
  syncState,
  type TemplateTrust,
} from './catalog.ts';
export { type ChangeCounts, changeKinds } from './changes.ts';
export { type Severity, severities, templateState } from './deployments/advice.ts';
export { composedPieces } from './deployments/composed.ts';
export {
  MAX_CANDIDATES_LISTED,
  MAX_CHANGES_LISTED,
  type NewDeployment,
  phases,
  problemPhases,
  pulls,
} from './deployments/deployment.ts';
export { MAX_MEASURED_INSTANCES } from './deployments/deployments.ts';
export type { DryRun } from './deployments/dry-run.ts';
export {
  type AddressForm,
  addressForms,
  type EnvReply,
  type EnvRequest,
  type GeneratedValue,
} from './deployments/env.ts';
export { instanceContainer, MAX_INSTANCE_EVENTS } from './deployments/instances.ts';
export { MAX_FOLLOWED_INSTANCES } from './deployments/logs.ts';
export { type Obstacle, obstacleCodes, type Remedy } from './deployments/obstacle.ts';
export { type Autoscaling, autoscalingReply, type Scaler, scalers } from './deployments/scaling.ts';
export { MAX_OPEN_RUNS, MAX_RUN_ITEMS, updateItemStates, updateRunStates } from './deployments/update-runs.ts';
export {
  NEW_UPDATES,
  rolloutStates,
  type UpdateState,
  type Updates,
  type UpdatesInput,
  type UpdateWindow,
  updatesReply,
  weekdays,
} from './deployments/updates.ts';
export {
  type WorkloadSpec,
  workloadDefaults,
  workloadExamples,
  workloadFields,
  workloadSpec,
} from './deployments/workloads.ts';
export {
  type ApplicationDocument,
  type DeploymentDocument,
  type DocumentKind,
  documentKinds,
  documentSchemas,
  type ObjectDocument,
} from './plans/documents.ts';
export { planLimits, planStates } from './plans/plans.ts';
export { MAX_SOURCES, sourceStates } from './plans/sources.ts';
export { clusterPolicyDefaults, clusterPolicyNames, clusterPolicyReply } from './resources/cluster-policies.ts';
export { type Elastic, elastic } from './resources/elastic.ts';
export { readOpenPorts } from './resources/host-ports.ts';
export { isBindAddress, MAX_PROPOSED_ADDRESSES } from './resources/hosts.ts';
export type { LabelRequirement } from './resources/resource.ts';
export { purposesOfKind, type SecretPurpose } from './resources/secrets.ts';
export { DEFAULT_VOLUME_SIZE } from './resources/storage.ts';
export type { Target } from './resources/target.ts';
export { briefTarget, fleetTools } from './tools.ts';
export {
  MAX_PLANNED_REFUSALS,
  MAX_PLANNED_SUBJECTS,
  MAX_TRUSTED_PUBLISHERS,
  type Trust,
  trustPolicy,
} from './trust.ts';
export type { WebhookEvent } from './webhooks.ts';

/** All endpoints of the fleet. */
export const fleetEndpoints = {
  ...fleetAuthEndpoints,
  ...fleetCatalogEndpoints,
  ...fleetPeopleEndpoints,
  ...fleetSettingsEndpoints,
  ...fleetTrustEndpoints,
  ...fleetAuditEndpoints,
  ...fleetHostEndpoints,
  ...fleetClusterEndpoints,
  ...fleetOrphanEndpoints,
  ...fleetWorkloadEndpoints,
  ...fleetDeploymentEndpoints,
  ...fleetUpdateRunEndpoints,
  ...fleetPlanEndpoints,
  ...fleetSourceEndpoints,
  ...fleetApplicationEndpoints,
  ...fleetStorageEndpoints,
  ...fleetSecretEndpoints,
  ...fleetEventEndpoints,
  ...fleetChangeEndpoints,
  ...fleetWebhookEndpoints,
  ...diagnosisEndpoints('settings', '/api/v1', fleetBundle),
};

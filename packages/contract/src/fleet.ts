import { fleetAuditEndpoints } from './fleet-audit.ts';
import { fleetAuthEndpoints } from './fleet-auth.ts';
import { fleetCatalogEndpoints } from './fleet-catalog.ts';
import { fleetChangeEndpoints } from './fleet-changes.ts';
import { fleetClusterEndpoints } from './fleet-clusters.ts';
import { fleetDeploymentEndpoints } from './fleet-deployments.ts';
import { fleetEventEndpoints } from './fleet-events.ts';
import { fleetHostEndpoints } from './fleet-hosts.ts';
import { fleetOrphanEndpoints } from './fleet-orphans.ts';
import { fleetPeopleEndpoints } from './fleet-people.ts';
import { fleetSecretEndpoints } from './fleet-secrets.ts';
import { fleetSettingsEndpoints } from './fleet-settings.ts';
import { fleetStorageEndpoints } from './fleet-storage.ts';
import { fleetWorkloadEndpoints } from './fleet-workloads.ts';

export { writeAuditCursor } from './audit-cursor.ts';
export { type FleetAccess, type FleetRole, fleetAccesses, fleetRoles } from './fleet-access.ts';
export { MAX_SKIPPED_LISTED, syncState } from './fleet-catalog.ts';
export { type ChangeCounts, changeKinds } from './fleet-changes.ts';
export { MAX_CANDIDATES_LISTED, type NewDeployment, phases } from './fleet-deployment.ts';
export type { EnvReply, EnvRequest } from './fleet-env.ts';
export type { LabelRequirement } from './fleet-resource.ts';
export { DEFAULT_VOLUME_SIZE } from './fleet-storage.ts';
export type { Target } from './fleet-target.ts';
export { briefTarget, fleetTools } from './fleet-tools.ts';
export {
  type WorkloadSpec,
  workloadDefaults,
  workloadExamples,
  workloadFields,
  workloadSpec,
} from './fleet-workloads.ts';
export { workloadMembers } from './template-fields.ts';

/** All endpoints of the fleet. */
export const fleetEndpoints = {
  ...fleetAuthEndpoints,
  ...fleetCatalogEndpoints,
  ...fleetPeopleEndpoints,
  ...fleetSettingsEndpoints,
  ...fleetAuditEndpoints,
  ...fleetHostEndpoints,
  ...fleetClusterEndpoints,
  ...fleetOrphanEndpoints,
  ...fleetWorkloadEndpoints,
  ...fleetDeploymentEndpoints,
  ...fleetStorageEndpoints,
  ...fleetSecretEndpoints,
  ...fleetEventEndpoints,
  ...fleetChangeEndpoints,
};

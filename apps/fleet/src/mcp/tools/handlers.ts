import { search_audit_log } from './audit.ts';
import { catalogTools } from './catalog.ts';
import { deploymentChanges } from './deployment-changes.ts';
import { deploymentReads } from './deployment-reads.ts';
import { read_deployment_logs } from './logs.ts';
import { planTools } from './plans.ts';
import { resourceTools } from './resources.ts';
import { get_fleet_status } from './status.ts';
import { targetTools } from './targets.ts';
import type { Handlers } from './types.ts';
import { wait_for_deployment } from './wait.ts';

/** What each tool does, with the operations of the API only. */
export const handlers: Handlers = {
  get_fleet_status,
  ...catalogTools,
  ...targetTools,
  ...deploymentReads,
  wait_for_deployment,
  read_deployment_logs,
  ...resourceTools,
  ...deploymentChanges,
  ...planTools,
  search_audit_log,
};

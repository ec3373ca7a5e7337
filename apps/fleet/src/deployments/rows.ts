import type { phases } from '@svc/contract/fleet';
import { Prisma } from '../generated/prisma/client.ts';
import { type Condition, presentConditions } from '../resources/conditions.ts';
import { type Kind, presentCommon, type ResourceRow } from '../resources/rows.ts';
import { presentTarget } from '../storage/rows.ts';
import { type TemplateState, templateState } from '../workloads/rows.ts';

interface Endpoint {
  readonly container_port: number;
  readonly protocol: string;
  readonly address: string;
}

interface Instance {
  readonly name: string;
  readonly phase: string;
  readonly message: string;
  readonly restarts: number;
}

export interface DeploymentRow extends ResourceRow {
  readonly workload_id: string;
  readonly workload_name: string;
  readonly revision: number;
  readonly template_id: string | null;
  readonly template_slug: string | null;
  readonly template_state: TemplateState;
  readonly host_id: string | null;
  readonly cluster_id: string | null;
  readonly replicas: number;
  readonly env: Record<string, string>;
  readonly volumes: Record<string, { storage_id: string; size: string }>;
  readonly desired_state: 'running' | 'stopped';
  readonly restarted_at: Date | null;
  readonly phase: (typeof phases)[number];
  readonly reason: string | null;
  readonly message: string;
  readonly generation: number;
  readonly observed_generation: number | null;
  readonly conditions: readonly Condition[];
  readonly endpoints: Endpoint[];
  readonly instances: Instance[];
  readonly observed_at: Date | null;
  /** An engine was asked for it, or may have been. */
  readonly touched: boolean;
  readonly deleting: boolean;
  /** Of its host or cluster; null where it has none. */
  readonly reachability: 'unknown' | 'online' | 'unreachable' | null;
  readonly away: string | null;
}

const ofRevision = (expression: Prisma.Sql) =>
  Prisma.sql`(SELECT ${expression} FROM workload_revisions v WHERE v.workload_id = r.workload_id AND v.revision = r.revision)`;

export const deployments: Kind = {
  table: 'deployments',
  columns: Prisma.sql`r.workload_id, (SELECT w.name FROM workloads w WHERE w.id = r.workload_id) AS workload_name, r.revision,
    ${ofRevision(Prisma.sql`v.template_id`)} AS template_id, ${ofRevision(Prisma.sql`v.template_slug`)} AS template_slug,
    ${ofRevision(templateState)} AS template_state, r.host_id, r.cluster_id, r.replicas, r.env,
    (SELECT coalesce(jsonb_object_agg(a.mount, jsonb_build_object('storage_id', v.id, 'size', v.size)), '{}')
     FROM attachments a JOIN volumes v ON v.id = a.volume_id WHERE a.deployment_id = r.id) AS volumes,
    r.desired_state::text, r.restarted_at, r.phase, r.reason, r.message, r.generation, r.observed_generation, r.conditions,
    r.endpoints, r.instances, r.observed_at, r.touched, r.deleting,
    coalesce((SELECT h.reachability::text FROM hosts h WHERE h.id = r.host_id),
             (SELECT c.reachability::text FROM clusters c WHERE c.id = r.cluster_id)) AS reachability,
    coalesce((SELECT h.message FROM hosts h WHERE h.id = r.host_id),
             (SELECT c.message FROM clusters c WHERE c.id = r.cluster_id)) AS away`,
};

/** It keeps its phase: nothing is known of what runs there now. */
const targetAway = ({ away, observed_at, created_at }: DeploymentRow) => ({
  type: 'TargetReachable',
  status: 'False',
  reason: 'TargetUnreachable',
  message: away ?? '',
  at: observed_at ?? created_at,
});

/** A deployment as the API shows it. */
export const presentDeployment = (row: DeploymentRow) => ({
  ...presentCommon(row),
  workload_id: row.workload_id,
  workload_name: row.workload_name,
  revision: row.revision,
  template_id: row.template_id,
  template_slug: row.template_slug,
  template_state: row.template_state,
  target: presentTarget(row),
  replicas: row.replicas,
  env: row.env,
  volumes: row.volumes,
  desired_state: row.desired_state,
  phase: row.phase,
  reason: row.reason,
  message: row.message,
  generation: row.generation,
  observed_generation: row.observed_generation,
  conditions: [...presentConditions(row.conditions), ...(row.reachability === 'unreachable' ? [targetAway(row)] : [])],
  endpoints: row.endpoints,
  instances: row.instances,
  observed_at: row.observed_at,
});

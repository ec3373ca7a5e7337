import { HEALTH_CHECK, HTTP_PORTS, readHealthCheck, readHttpPorts, type WebPort } from '@svc/contract';
import { instanceContainer, phases, pulls, workloadSpec } from '@svc/contract/fleet';
import { z } from 'zod';
import { Prisma } from '../generated/prisma/client.ts';
import { type DefaultLimits, effectsOfCurrentDefaults } from '../render/defaults.ts';
import { storedEnv } from '../render/env.ts';
import { imageReference } from '../render/image.ts';
import { hasOtherSettings, podSettings } from '../render/pod-settings.ts';
import { adviceBytes, presentAdvice, storedAdvice, templateAdvice } from '../resources/advice.ts';
import {
  condition,
  type Kind,
  managedBy,
  managedByOf,
  presentCommon,
  presentConditions,
  resourceRow,
} from '../resources/kind.ts';
import { problemsOfUses, restrictedUses, storedUses } from '../resources/secret-uses.ts';
import { presentTarget } from '../resources/storage.ts';
import {
  automaticHold,
  failedImage,
  failedUpdate,
  imageCheck,
  presentUpdate,
  presentVersion,
  storedCheck,
  storedFailure,
  storedHold,
} from '../resources/updates.ts';
import { revisionBytes, secretVariables, templateState, templateStates } from '../resources/workloads.ts';
import { hasInlineValues, presentEnv } from './env.ts';
import { storedHostPorts } from './host-ports/stored.ts';
import { remedyOf } from './remedies.ts';
import { observedScale, scalerOf, scalingRow } from './scaling/scaling.ts';
import { policyOf, storedUpdates } from './updates/policy.ts';
import { rolloutReply, storedRollout } from './updates/rollout.ts';
import { unmetWaits } from './waits.ts';

/** The crash loop of a deployment, in its row. Times are those of the database, as ISO 8601. */
const storedCrashLoop = z.object({
  /** The instance that the other members describe. */
  instance: z.string(),
  /** The number of its last start, counted from the first one that failed. */
  attempt: z.int(),
  /** That of the last failed attempt; null if no worker has seen it. */
  exit_code: z.int().nullable(),
  reason: z.string(),
  since: z.iso.datetime(),
  /** When it is started again; null if it runs, or if the engine does not state it. */
  next_try_at: z.iso.datetime().nullable(),
  /** When the last failed attempt was started, by the clock of the engine. */
  failed_start_at: z.iso.datetime().nullable(),
});
export type CrashLoop = z.output<typeof storedCrashLoop>;

/**
 * An instance of a deployment. The last three members are absent in rows of version 0.2.0, and on
 * hosts; `current`, `ready`, `ordinal` and `image_digest` in rows of version 0.2.0, and while it is removed.
 */
const storedInstance = z.object({
  name: z.string(),
  phase: z.string(),
  message: z.string(),
  restarts: z.int(),
  current: z.boolean().optional(),
  ready: z.boolean().optional(),
  ordinal: z.int().nullable().default(null),
  image_digest: z.string().nullable().default(null),
  node: z.string().nullable().default(null),
  containers: z.array(instanceContainer).default([]),
  events: z
    .array(z.object({ at: z.iso.datetime().nullable(), type: z.string(), reason: z.string(), message: z.string() }))
    .default([]),
});

/** A part for which another one waits, with its state. */
const waitingFor = z.object({
  part: z.string(),
  until: z.string(),
  phase: z.string(),
  reason: z.string().nullable(),
});

export const deploymentRow = resourceRow.extend({
  workload_id: z.string(),
  workload_name: z.string(),
  deletes_workload: z.boolean(),
  revision: z.int(),
  template_id: z.string().nullable(),
  template_slug: z.string().nullable(),
  template_state: templateStates,
  template_revision: z.int().nullable(),
  advice: storedAdvice,
  /** The version of the present template; null if it is not in the mirror. */
  present_version: z.string().nullable(),
  failed_update: storedFailure,
  /** What the registry says about its tag; null without a check. */
  image_check: storedCheck,
  failed_image: storedFailure,
  automatic_hold: storedHold,
  host_id: z.string().nullable(),
  cluster_id: z.string().nullable(),
  /** The name of the host or cluster; null without a target. */
  target_name: z.string().nullable(),
  ...scalingRow.shape,
  observed_scale: observedScale.nullable(),
  env: storedEnv,
  host_ports: storedHostPorts,
  /** The names of the secret variables. */
  secret_variables: z.array(z.string()),
  volumes: z.record(z.string(), z.object({ storage_id: z.string(), size: z.string() })),
  desired_state: z.enum(['running', 'stopped']),
  pull: z.enum(pulls),
  /** The members of its workload that identify the image. */
  image_source: workloadSpec.pick({ registry_url: true, image_name: true, image_tag: true, image_digest: true }),
  /** The digest of the image of its instances. */
  image_digest: z.string().nullable(),
  /** The digest of the image that its generation requests; null: what its workload names. */
  requested_digest: z.string().nullable(),
  /** The digest of the image that its host has for it. */
  host_digest: z.string().nullable(),
  restarted_at: z.date().nullable(),
  phase: z.enum(phases),
  reason: z.string().nullable(),
  message: z.string(),
  generation: z.int(),
  observed_generation: z.int().nullable(),
  conditions: z.array(condition),
  endpoints: z.array(
    // Delete after 0.2: `optional`, with a migration that adds the scope to stored endpoints. Version
    // 0.1.0 stored none.
    z.object({
      container_port: z.int(),
      protocol: z.string(),
      address: z.string(),
      scope: z.string().optional(),
      // Version 0.2.0 stores only addresses of current instances that are ready, and not which ones.
      instance: z.string().nullable().default(null),
      ready: z.boolean().default(true),
      current: z.boolean().default(true),
    }),
  ),
  /** The values of the variables that name the ports with web pages; empty without endpoints. */
  web_variables: z.record(z.string(), z.string().nullable()),
  instances: z.array(storedInstance),
  crash_loop: storedCrashLoop.nullable(),
  updates: storedUpdates,
  good_generation: z.int().nullable(),
  rollout: storedRollout.nullable(),
  rollout_elapsed_ms: z.int(),
  rollout_observed_at: z.date().nullable(),
  extra_instances: z.int(),
  observed_at: z.date().nullable(),
  /** Whether an engine has received objects of the deployment, or may have received them. */
  sent_to_engine: z.boolean(),
  deleting: z.boolean(),
  defaults_version: z.int(),
  default_memory_bytes: z.bigint().nullable(),
  default_processes: z.int().nullable(),
  /** The settings of its cluster with which its pods are rendered. */
  pod_settings: podSettings.nullable(),
  /** The settings that its cluster has now; null on a host and without a target. */
  cluster_settings: podSettings.nullable(),
  /** Whether its cluster limits the memory of pods itself. */
  uses_limit_range: z.boolean(),
  /** Those of its workload. */
  memory_request: z.string(),
  memory_limit: z.string(),
  /** Whether it has ports that bind to all interfaces of its host. */
  binds_all_interfaces: z.boolean(),
  /** The ReadWriteOnce volumes to which another replica or deployment can write. */
  shared_volumes: z.array(z.string()),
  /** The mounts whose volumes are lost. */
  lost_mounts: z.array(z.string()),
  /** The uses of secrets that can be outside the purposes of the secrets. */
  restricted_uses: storedUses,
  /** The reachability of the target; null without a target. */
  reachability: z.enum(['unknown', 'online', 'unreachable']).nullable(),
  unreachable_reason: z.string().nullable(),
  /** Whether a worker has a lease on the deployment. */
  leased: z.boolean(),
  /** The application of which it is a part. */
  application_id: z.string().nullable(),
  application_name: z.string().nullable(),
  part: z.string().nullable(),
  /** The document that was applied to it last; null if files do not manage it. */
  managed_by: managedBy,
  /** The other parts for which it still waits; null if it waits for none. */
  waiting: z.array(waitingFor).nullable(),
  /** How long it has waited for them. */
  waited_seconds: z.int().nullable(),
});
export type DeploymentRow = z.output<typeof deploymentRow>;

const ofRevision = (expression: Prisma.Sql, from = Prisma.empty) =>
  Prisma.sql`(SELECT ${expression} FROM workload_revisions v${from} WHERE v.workload_id = r.workload_id AND v.revision = r.revision)`;

/**
 * Whether a workload is as the request that created it made it. A change by a person sets labels, or the overrides of a
 * later revision; an update from a template and a document of the deployment do not. The overrides of the first revision are those of the request that
 * created the workload. `w` is the workload.
 */
export const isUnchangedWorkload = Prisma.sql`w.labels = '{}'
  AND NOT EXISTS (SELECT FROM workload_revisions c WHERE c.workload_id = w.id AND c.revision > 1 AND c.overrides <> '{}' AND NOT c.described)`;

const deletesWorkload = Prisma.sql`r.deletes_workload
  AND NOT EXISTS (SELECT FROM deployments o WHERE o.workload_id = r.workload_id AND o.id <> r.id)
  AND EXISTS (SELECT FROM workloads w WHERE w.id = r.workload_id AND ${isUnchangedWorkload})`;

/** The names of the mounts of the revision. Attachments of other mounts are kept, but not used. */
const mounts = ofRevision(Prisma.sql`m->>'name'`, Prisma.sql`, jsonb_array_elements(v.spec->'volume_mounts') m`);

const imageSource = ofRevision(Prisma.sql`jsonb_build_object('registry_url', v.spec->'registry_url',
  'image_name', v.spec->'image_name', 'image_tag', v.spec->'image_tag', 'image_digest', v.spec->'image_digest')`);

/** A value that is not text, such as that of a secret, is not a list of ports. */
const webVariables = Prisma.sql`CASE WHEN r.endpoints = '[]' THEN '{}' ELSE ${ofRevision(Prisma.sql`(
    SELECT coalesce(jsonb_object_agg(d.name, coalesce(r.env->d.name->>'value', r.env->>d.name, d.value)), '{}')
    FROM (SELECT e->>'name' AS name, e->>'value' AS value FROM jsonb_array_elements(v.spec->'env') e
          UNION ALL
          SELECT e->>'name', e->>'default_value' FROM jsonb_array_elements(v.spec->'env_schema') e) d
    WHERE d.name IN (${HTTP_PORTS}, ${HEALTH_CHECK}))`)} END`;

const clusterSettings = Prisma.sql`(SELECT jsonb_build_object('object_labels', c.object_labels,
      'object_annotations', c.object_annotations, 'pod_label_keys', c.pod_label_keys, 'service_account', c.service_account,
      'allow_service_account_tokens', c.allow_service_account_tokens, 'pull_secrets', c.pull_secrets,
      'priority_class', c.priority_class, 'cluster_domain', c.cluster_domain)
     FROM clusters c WHERE c.id = r.cluster_id)`;

const columnsWith = (large: { readonly env: Prisma.Sql; readonly instances: Prisma.Sql }) =>
  Prisma.sql`r.workload_id, (SELECT w.name FROM workloads w WHERE w.id = r.workload_id) AS workload_name, ${deletesWorkload} AS deletes_workload, r.revision,
    ${ofRevision(Prisma.sql`v.template_id`)} AS template_id, ${ofRevision(Prisma.sql`v.template_slug`)} AS template_slug,
    ${ofRevision(templateState)} AS template_state, ${ofRevision(Prisma.sql`v.template_revision`)} AS template_revision, ${ofRevision(templateAdvice)} AS advice,
    ${ofRevision(presentVersion)} AS present_version, ${failedUpdate} AS failed_update, ${ofRevision(imageCheck)} AS image_check, ${failedImage} AS failed_image, ${automaticHold} AS automatic_hold, ${ofRevision(secretVariables)} AS secret_variables, r.host_id, r.cluster_id,
    coalesce((SELECT h.name FROM hosts h WHERE h.id = r.host_id),
             (SELECT c.name FROM clusters c WHERE c.id = r.cluster_id)) AS target_name, r.replicas, r.autoscaling, r.scaled_by, r.handover, r.observed_scale,
    ${large.env} AS env, r.host_ports,
    (SELECT coalesce(jsonb_object_agg(a.mount, jsonb_build_object('storage_id', v.id, 'size', v.size)), '{}')
     FROM attachments a JOIN volumes v ON v.id = a.volume_id WHERE a.deployment_id = r.id) AS volumes,
    r.desired_state::text, r.pull, ${imageSource} AS image_source, r.image_digest, r.requested_digest, r.host_image->>'digest' AS host_digest, r.restarted_at, r.phase, r.reason, r.message, r.generation, r.observed_generation, r.conditions,
    r.endpoints, ${webVariables} AS web_variables, ${large.instances} AS instances, r.crash_loop, r.updates, r.good_generation, r.rollout, r.rollout_elapsed_ms, r.rollout_observed_at, r.extra_instances, r.observed_at, r.sent_to_engine, r.deleting, r.defaults_version,
    r.default_memory_bytes, r.default_processes, r.pod_settings, ${clusterSettings} AS cluster_settings,
    coalesce((SELECT c.uses_limit_range FROM clusters c WHERE c.id = r.cluster_id), false) AS uses_limit_range,
    coalesce(${ofRevision(Prisma.sql`v.spec->>'memory_request'`)}, '') AS memory_request,
    coalesce(${ofRevision(Prisma.sql`v.spec->>'memory_limit'`)}, '') AS memory_limit,
    EXISTS (SELECT FROM allocated_ports p WHERE p.deployment_id = r.id AND p.addresses = '{}') AS binds_all_interfaces,
    ARRAY(SELECT v.name FROM attachments a JOIN volumes v ON v.id = a.volume_id
          WHERE a.deployment_id = r.id AND v.access_mode = 'ReadWriteOnce' AND a.mount IN ${mounts}
            AND (r.replicas > 1 OR EXISTS (SELECT FROM attachments o WHERE o.volume_id = v.id AND o.deployment_id <> r.id))
          ORDER BY v.name) AS shared_volumes,
    ARRAY(SELECT a.mount FROM attachments a JOIN volumes v ON v.id = a.volume_id
          WHERE a.deployment_id = r.id AND v.phase = 'lost' AND a.mount IN ${mounts} ORDER BY a.mount) AS lost_mounts,
    ${restrictedUses} AS restricted_uses,
    coalesce((SELECT h.reachability::text FROM hosts h WHERE h.id = r.host_id),
             (SELECT c.reachability::text FROM clusters c WHERE c.id = r.cluster_id)) AS reachability,
    coalesce((SELECT h.unreachable_reason FROM hosts h WHERE h.id = r.host_id),
             (SELECT c.unreachable_reason FROM clusters c WHERE c.id = r.cluster_id)) AS unreachable_reason,
    coalesce(r.lease_until > now(), false) AS leased, r.application_id, r.part,
    (SELECT a.name FROM applications a WHERE a.id = r.application_id) AS application_name,
    ${managedByOf('deployment')} AS managed_by,
    CASE WHEN r.waits_for IS NOT NULL THEN (
      SELECT jsonb_agg(jsonb_build_object('part', s.part, 'until', w.until, 'phase', s.phase, 'reason', s.reason) ORDER BY s.part)
      FROM ${unmetWaits(Prisma.sql`r.waits_for`)}) END AS waiting,
    CASE WHEN r.waits_for IS NOT NULL THEN
      greatest(extract(epoch FROM now() - (r.waits_for->>'since')::timestamptz), 0)::int END AS waited_seconds`;

const endpointBytes = Prisma.sql`octet_length(r.endpoints::text)`;
const ownBytes = Prisma.sql`r.env_bytes + octet_length(r.instances::text) + ${endpointBytes}`;
const shownAdvice = ofRevision(adviceBytes);

export const deployments: Kind<DeploymentRow> = {
  table: 'deployments',
  row: deploymentRow,
  bytes: Prisma.sql`${ownBytes} + coalesce(${ofRevision(revisionBytes)}, 0)`,
  shownBytes: Prisma.sql`${ownBytes} + ${shownAdvice}`,
  columns: columnsWith({ env: Prisma.sql`r.env`, instances: Prisma.sql`r.instances` }),
};

/** Deployments without their environment and instances. */
export const deploymentSummaries: Kind<DeploymentRow> = {
  ...deployments,
  shownBytes: Prisma.sql`${endpointBytes} + ${shownAdvice}`,
  columns: columnsWith({ env: Prisma.sql`'{}'::jsonb`, instances: Prisma.sql`'[]'::jsonb` }),
};

/**
 * The condition of a deployment on an unreachable target. The phase stays, because the current
 * state is not known.
 */
const targetUnreachable = ({ unreachable_reason, observed_at, created_at }: DeploymentRow) => ({
  type: 'TargetReachable',
  status: 'False',
  reason: 'TargetUnreachable',
  message: unreachable_reason ?? '',
  at: observed_at ?? created_at,
});

/**
 * The condition of a deployment whose instances were started with older defaults; a stopped one
 * gets the current ones.
 */
function olderDefaults(row: DeploymentRow, current: DefaultLimits) {
  const ofValues = row.cluster_id !== null && hasInlineValues(row.env) ? ['moves sealed values into a Secret'] : [];
  const ofSettings =
    row.cluster_id !== null && hasOtherSettings(row.pod_settings, row.cluster_settings)
      ? ['applies the settings of the cluster to its pods']
      : [];
  const limits = row.uses_limit_range ? { ...current, memory_bytes: null } : current;
  const effects =
    row.desired_state === 'stopped' ? [] : [...effectsOfCurrentDefaults(row, limits), ...ofSettings, ...ofValues];
  if (effects.length === 0) return [];
  return [
    {
      type: 'CreatedWithOlderDefaults',
      status: 'True',
      reason: 'OlderDefaults',
      message: `A restart ${effects.join(', ')}.`,
      at: row.created_at,
    },
  ];
}

/**
 * The condition of a deployment of an earlier version whose ReadWriteOnce volumes have several
 * writers.
 */
function sharedVolumes({ shared_volumes, replicas, created_at }: DeploymentRow) {
  if (shared_volumes.length === 0) return [];
  const writers = replicas > 1 ? `${replicas} replicas` : 'Several deployments';
  const remedy = replicas > 1 ? 'Scale it to 1 replica' : 'Delete one of the deployments';
  return [
    {
      type: 'VolumeShared',
      status: 'True',
      reason: 'ReadWriteOnce',
      message: `${writers} write to ReadWriteOnce volumes: ${shared_volumes.join(', ')}. ${remedy}, because they can damage the data.`,
      at: created_at,
    },
  ];
}

/**
 * The condition of a deployment whose number of replicas somebody else has set. The fleet leaves it,
 * and applies all other changes.
 */
function replicasSetInCluster(row: DeploymentRow) {
  const { id, replicas, autoscaling, scaled_by, observed_scale, observed_at, created_at } = row;
  if (observed_scale?.manager == null || scalerOf(autoscaling, scaled_by) === 'cluster') return [];
  const { manager, replicas: present } = observed_scale;
  const put = `PUT /api/v1/deployments/${id}`;
  const message = `${manager} has set ${present} replicas, and the deployment requests ${replicas}. To keep theirs from now on: ${put} with {"scaled_by": "cluster"}; to set ${replicas}: ${put} with {"take_over": true}.`;
  return [
    { type: 'ReplicasSetInCluster', status: 'True', reason: 'FieldManager', message, at: observed_at ?? created_at },
  ];
}

/** The number of problems that a condition lists. */
const MAX_PROBLEMS = 5;

/** The condition of a deployment that uses secrets in a way that was permitted when it was stored. */
function secretsOutsidePurpose({ workload_name, restricted_uses, created_at }: DeploymentRow) {
  const problems = problemsOfUses(workload_name, restricted_uses);
  if (problems.length === 0) return [];
  const more = problems.length > MAX_PROBLEMS ? [`and ${problems.length - MAX_PROBLEMS} more`] : [];
  return [
    {
      type: 'SecretOutsidePurpose',
      status: 'True',
      reason: 'SecretNotPermitted',
      message: `The deployment continues with this revision, and another one is refused. It ${[...problems.slice(0, MAX_PROBLEMS), ...more].join('; it ')}.`,
      at: created_at,
    },
  ];
}

type PresentedReason = Pick<DeploymentRow, 'reason' | 'message'>;

/** Why a deployment is in its phase. */
export function presentReason(row: DeploymentRow): PresentedReason {
  const { phase, reason, message } = row;
  if (phase === 'pending') return presentPending(row);
  if (phase === 'stopping' || phase === 'deleting') return presentRemoval(row);
  if (hasCompleted(row)) return { reason: 'Completed', message };
  const remedy = reason === 'VolumeLost' ? remedyOfLoss(row) : row.cluster_id === null ? undefined : remedyOf(row);
  return { reason, message: remedy === undefined ? message : `${message} ${remedy}` };
}

const remedyOfLoss = ({ id, lost_mounts }: DeploymentRow): string | undefined =>
  lost_mounts.length === 0
    ? undefined
    : `Restore the volume, or continue without its data: PUT /api/v1/deployments/${id} with {"accept_loss": ${JSON.stringify(lost_mounts)}} replaces it.`;

/** Whether it is a job whose instances have completed, and not stopped by a caller. */
const hasCompleted = ({ phase, desired_state, instances }: DeploymentRow): boolean =>
  phase === 'stopped' && desired_state === 'running' && instances.some((instance) => instance.phase === 'completed');

const kindOfTarget = ({ host_id }: DeploymentRow) => (host_id === null ? 'cluster' : 'host');

/** The target that a deployment waits for; undefined if it is online. */
function presentUnavailable(row: DeploymentRow): PresentedReason | undefined {
  const target = `the ${kindOfTarget(row)} ${row.target_name}`;
  if (row.reachability === 'unreachable') {
    const message = `Waiting for ${target} to become reachable: ${row.unreachable_reason || 'the reason is not known.'}`;
    return { reason: 'TargetUnreachable', message };
  }
  if (row.reachability === 'unknown') {
    return { reason: 'TargetNotChecked', message: `Waiting for the first check of ${target}.` };
  }
  return undefined;
}

const WAITING = { reason: null, message: 'Waiting for a worker of the fleet.' };

const REACHED: Readonly<Record<string, string>> = {
  started: 'to start',
  ready: 'to be ready',
  finished: 'to finish',
  stopped: 'to stop',
  gone: 'to be removed',
};

/** The other parts that a part of an application waits for; undefined if it waits for none. */
function presentWaiting(row: DeploymentRow): PresentedReason | undefined {
  const { waiting, waited_seconds } = row;
  if (waiting === null || waiting.length === 0) return undefined;
  const named = waiting.map(
    ({ part, until, phase, reason }) => `${part} ${REACHED[until] ?? until} (${reason ?? phase})`,
  );
  const message = `Waiting for ${named.join(', and ')}.`;
  const isOverdue = (waited_seconds ?? 0) > policyOf(row).deadline_seconds;
  return { reason: isOverdue ? 'DeadlineExceeded' : 'WaitingForPart', message };
}

/** What a deployment in phase `pending` waits for, or what its worker is doing. */
function presentPending(row: DeploymentRow): PresentedReason {
  const unavailable = presentUnavailable(row);
  if (unavailable) return unavailable;
  if (!row.leased) return presentWaiting(row) ?? WAITING;
  const message = `A worker is applying generation ${row.generation} on the ${kindOfTarget(row)} ${row.target_name}.`;
  return { reason: null, message: row.message || message };
}

/** What the removal of the instances of a deployment waits for. */
function presentRemoval(row: DeploymentRow): PresentedReason {
  const { reachability, phase, reason, message } = row;
  const unavailable = presentUnavailable(row);
  if (unavailable && reachability === 'unreachable' && phase === 'deleting') {
    const remedy = `If the ${kindOfTarget(row)} no longer exists, delete and abandon it.`;
    return { ...unavailable, message: `${unavailable.message} ${remedy}` };
  }
  return unavailable ?? (message === '' ? (presentWaiting(row) ?? WAITING) : { reason, message });
}

/** The ports with web pages, those that `SVC_HTTP_PORTS` names first. */
function webPortsOf({ web_variables }: DeploymentRow): readonly WebPort[] {
  const named = readHttpPorts(web_variables[HTTP_PORTS] ?? '') ?? [];
  const check = readHealthCheck(web_variables[HEALTH_CHECK] ?? '');
  return check?.kind === 'http' ? [...named, { port: check.port, scheme: 'http' }] : named;
}

/** The addresses of a deployment, those of web pages first. */
export function presentEndpoints(row: DeploymentRow) {
  const webPorts = webPortsOf(row);
  const placeOf = ({ container_port, protocol }: DeploymentRow['endpoints'][number]) =>
    protocol === 'TCP' ? webPorts.findIndex(({ port }) => port === container_port) : -1;
  return row.endpoints
    .map((endpoint) => ({ endpoint, place: placeOf(endpoint) }))
    .toSorted((one, other) => Number(one.place < 0) - Number(other.place < 0) || one.place - other.place)
    .map(({ endpoint: { scope = row.host_id === null ? 'cluster' : 'all', ...endpoint }, place }) => ({
      ...endpoint,
      scope,
      scheme: webPorts[place]?.scheme ?? null,
    }));
}

/** The crash loop of a deployment, which the last pass of its current generation has observed. */
function presentCrashLoop({ phase, crash_loop }: DeploymentRow) {
  if (phase !== 'degraded' || crash_loop === null) return null;
  return {
    ...crash_loop,
    since: new Date(crash_loop.since),
    next_try_at: dateOf(crash_loop.next_try_at),
    failed_start_at: dateOf(crash_loop.failed_start_at),
  };
}

const dateOf = (time: CrashLoop['next_try_at']): Date | null => (time === null ? null : new Date(time));

const presentInstance = ({ events, ready, current, ...instance }: DeploymentRow['instances'][number]) => ({
  ...instance,
  ready: ready ?? instance.phase === 'running',
  current: current ?? instance.phase === 'running',
  events: events.map(({ at, ...event }) => ({ ...event, at: dateOf(at) })),
});

function presentImage({ image_source, image_digest, image_check: check }: DeploymentRow) {
  return {
    reference: imageReference(image_source),
    digest: image_digest,
    latest_digest: check?.digest ?? null,
    checked_at: check?.checked_at ? new Date(check.checked_at) : null,
    checking: check?.checking ?? false,
    check_error: check?.error ?? null,
  };
}

/** The application of which a deployment is a part. */
const presentApplication = ({ application_id: id, application_name: name, part }: DeploymentRow) =>
  id === null || name === null || part === null ? null : { id, name, part };

/** The representation of a deployment in the API. `defaultLimits` are the current ones. */
export const presentDeployment = (row: DeploymentRow, defaultLimits: DefaultLimits) => ({
  ...presentCommon(row),
  workload_id: row.workload_id,
  workload_name: row.workload_name,
  deletes_workload: row.deletes_workload,
  revision: row.revision,
  template_id: row.template_id,
  template_slug: row.template_slug,
  template_state: row.template_state,
  ...presentAdvice(row),
  target: presentTarget(row),
  target_name: row.target_name,
  replicas: row.replicas,
  autoscaling: row.autoscaling,
  scaled_by: row.scaled_by,
  current_replicas: row.observed_scale?.replicas ?? null,
  env: presentEnv(row.env, row.secret_variables),
  host_ports: row.host_ports,
  volumes: row.volumes,
  desired_state: row.desired_state,
  pull: row.pull,
  image: presentImage(row),
  phase: row.phase,
  ...presentReason(row),
  generation: row.generation,
  observed_generation: row.observed_generation,
  conditions: [
    ...presentConditions(row.conditions),
    ...(row.reachability === 'unreachable' ? [targetUnreachable(row)] : []),
    ...olderDefaults(row, defaultLimits),
    ...sharedVolumes(row),
    ...secretsOutsidePurpose(row),
    ...replicasSetInCluster(row),
  ],
  endpoints: presentEndpoints(row),
  instances: row.instances.map(presentInstance),
  updates: policyOf(row),
  update: presentUpdate(row),
  rollout: rolloutReply(row, policyOf(row)),
  crash_loop: presentCrashLoop(row),
  observed_at: row.observed_at,
  application: presentApplication(row),
  managed_by: row.managed_by,
});

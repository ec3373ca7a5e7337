import { z } from 'zod';
import type { Database } from '../database/client.ts';
import { admission, admissionColumn } from '../deployments/networks/admission.ts';
import { attachedNetwork, attachedNetworks } from '../deployments/networks/attached.ts';
import { revisionColumns, revisionRow } from '../deployments/plans/revision.ts';
import { allocatedPort } from '../deployments/ports.ts';
import { deploymentRow } from '../deployments/rows.ts';
import { hostImage } from '../deployments/updates/restored.ts';
import { unmetWaits } from '../deployments/waits.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { CURRENT_DEFAULTS } from '../render/defaults.ts';
import { storedInstance } from './crash-loop.ts';
import { clusterOfDeployment, hostOfDeployment } from './targets.ts';

/**
 * Maximum number of deployments per host or cluster that all replicas of the fleet reconcile
 * concurrently. A host is a single machine.
 */
const MAX_CONCURRENT = { host: 4, cluster: 6 } as const;

/**
 * A deployment that this worker holds the lease on. The lease is renewed until `release` is called.
 */
export interface Claim {
  readonly id: string;
  readonly owner: string;
  readonly generation: number;
  /**
   * What the statement that claimed the deployment has read of it, not validated; undefined if the
   * deployment changed during this statement.
   */
  readonly row: unknown;
  /**
   * Aborted with LeaseLost when the lease is lost, and with Superseded when the generation is
   * superseded or the fleet stops.
   */
  readonly signal: AbortSignal;
  /**
   * Compares the time of the last renewal with the clock of the process. It detects an expired
   * lease in a process that was suspended, before any timer runs. @throws LeaseLost
   */
  assertLease(): void;
  /** Stops the renewal of the lease. */
  release(): void;
}

/**
 * Whether the current generation of a deployment has finished and must not be reconciled again. A
 * completed job would run again if its container had been removed. A deployment without its GPUs
 * would run without them for a moment in each pass.
 */
const isFinished = Prisma.sql`(d.observed_generation = d.generation AND NOT d.deleting AND d.desired_state = 'running'
  AND (d.phase = 'stopped' OR d.phase = 'failed' AND d.reason = 'GpuMissing'))`;

interface ClaimOptions {
  /** Duration of the lease in milliseconds. */
  readonly lease: number;
  /** Maximum number of deployments to claim. */
  readonly limit: number;
}

/**
 * What a pass reads of a deployment: its row, its revision of the workload, its allocation and its
 * target.
 */
const claimedRow = deploymentRow
  .pick({
    id: true,
    name: true,
    labels: true,
    host_id: true,
    cluster_id: true,
    replicas: true,
    autoscaling: true,
    scaled_by: true,
    handover: true,
    conditions: true,
    env: true,
    host_ports: true,
    desired_state: true,
    pull: true,
    requested_digest: true,
    restarted_at: true,
    phase: true,
    reason: true,
    generation: true,
    observed_generation: true,
    crash_loop: true,
    updates: true,
    good_generation: true,
    rollout: true,
    rollout_elapsed_ms: true,
    rollout_observed_at: true,
    extra_instances: true,
    deleting: true,
    application_id: true,
    part: true,
    defaults_version: true,
    default_processes: true,
    pod_settings: true,
  })
  .extend({
    ...revisionRow.shape,
    /** `pg` reads large integers as text. */
    default_memory_bytes: z.string().transform(BigInt).nullable(),
    failures: z.int(),
    instances: z.array(storedInstance),
    /** The time of the database. */
    now: z.date(),
    pull_requested: z.boolean(),
    host_image: hostImage.nullable(),
    take_over: z.boolean(),
    /** Whether the last good generation has the same revision, image and variables; null: it is the present one, or there is none. */
    good_is_same: z.boolean().nullable(),
    gpus: z.array(z.object({ ordinal: z.int(), gpu_id: z.string() })),
    ports: z.array(allocatedPort),
    networks: z.array(attachedNetwork),
    admission: admission.nullable(),
    host: hostOfDeployment.nullable(),
    cluster: clusterOfDeployment.nullable(),
  });
export type ClaimedRow = z.output<typeof claimedRow>;

/** The columns of a `ClaimedRow`, of a deployment `r` with its revision `v` of the workload. */
const claimedColumns = Prisma.sql`
  r.id, r.name, r.labels, r.host_id, r.cluster_id, r.replicas, r.autoscaling, r.scaled_by, r.handover, r.conditions, r.env, r.host_ports, r.desired_state::text, r.pull, r.requested_digest, r.restarted_at, r.phase, r.reason,
  r.generation, r.observed_generation, r.deleting, r.defaults_version, r.default_memory_bytes, r.default_processes,
  r.pod_settings, r.failures, r.instances, r.crash_loop, r.updates, r.good_generation, r.rollout,
  r.rollout_elapsed_ms, r.rollout_observed_at, r.extra_instances,
  CASE WHEN r.good_generation <> r.generation THEN
    (SELECT g.revision = r.revision AND g.env = r.env AND g.host_ports = r.host_ports AND g.requested_digest IS NOT DISTINCT FROM r.requested_digest FROM deployment_revisions g
     WHERE g.deployment_id = r.id AND g.generation = r.good_generation) END AS good_is_same,
  now() AS now, r.take_over, r.pull_requested, r.host_image, ${revisionColumns},
  (SELECT coalesce(jsonb_agg(jsonb_build_object('ordinal', g.ordinal, 'gpu_id', g.gpu_id) ORDER BY g.gpu_id), '[]')
   FROM allocated_gpus g WHERE g.deployment_id = r.id) AS gpus,
  (SELECT coalesce(jsonb_agg(jsonb_build_object('protocol', p.protocol, 'container_port', p.container_port,
      'ordinal', p.ordinal, 'host_port', p.host_port, 'addresses', p.addresses) ORDER BY p.host_port), '[]')
   FROM allocated_ports p WHERE p.deployment_id = r.id) AS ports,
  ${attachedNetworks} AS networks, r.application_id, r.part, ${admissionColumn} AS admission,
  (SELECT jsonb_build_object('id', h.id, 'engine', h.engine, 'endpoint', h.endpoint, 'sealed', h.sealed,
      'by_admin', h.by_admin, 'addresses', h.addresses)
   FROM hosts h WHERE h.id = r.host_id) AS host,
  (SELECT jsonb_build_object('id', c.id, 'server', c.server, 'ca_certificate', c.ca_certificate, 'sealed', c.sealed,
      'namespace', c.namespace, 'gpu_resource_name', c.gpu_resource_name, 'by_admin', c.by_admin,
      'default_storage_class', c.default_storage_class, 'public_service_type', c.public_service_type,
      'object_labels', c.object_labels, 'object_annotations', c.object_annotations, 'disruption_budgets', c.disruption_budgets,
      'network_policies', c.network_policies)
   FROM clusters c WHERE c.id = r.cluster_id) AS cluster`;

const withRevision = Prisma.sql`
  JOIN workload_revisions v ON v.workload_id = r.workload_id AND v.revision = r.revision`;

/**
 * The row of a claimed deployment as it was at the claim, or, if it changed during the claim, as it
 * is now. Returns undefined if the worker has lost its lease since or the generation is superseded.
 */
export async function rowOf({ statements }: Database, claim: Claim): Promise<ClaimedRow | undefined> {
  const { id, owner, generation } = claim;
  const [row] =
    claim.row === undefined
      ? await statements.read(Prisma.sql`
          SELECT ${claimedColumns} FROM deployments r ${withRevision}
          WHERE r.id = ${id}::uuid AND r.lease_owner = ${owner}::uuid AND r.generation = ${generation}`)
      : [claim.row];
  return row === undefined ? undefined : claimedRow.parse(row);
}

/** What the statement returns that claims a deployment. */
interface ClaimedNow {
  readonly claimed_generation: number;
  readonly owner: string;
  readonly is_current: boolean;
  readonly id: string;
}

/**
 * Claims the deployments that have been due for the longest time, among those whose host or cluster
 * is online. Deployments on unreachable targets wait, so that they do not delay the others. A
 * deployment with newer defaults waits for a replica of the version that knows them. A claim ends the wait of a part for others. Sets
 * `sent_to_engine` of the deployments and their volumes, since an engine may receive them from now
 * on. The cost depends on the number of targets and on `limit`, but not on the number of
 * deployments.
 *
 * The same statement reads the rows, as they were when it began. If a transaction that ended since
 * has changed a deployment, the locked version of its row is another one than the version that was
 * read, and the row is read again (`rowOf`).
 *
 * @param shutdown also aborts the claims
 */
export async function claimDue(
  { search, statements }: Pick<Database, 'search' | 'statements'>,
  { lease, limit }: ClaimOptions,
  shutdown: AbortSignal,
): Promise<Claim[]> {
  const requestedAt = Date.now();
  const rows = await search.read<ClaimedNow>(Prisma.sql`
    WITH locked AS MATERIALIZED (
      SELECT d.id, d.xmin AS version FROM deployments d WHERE d.id = ANY (ARRAY(${dueDeployments(limit)})) AND ${isClaimable}
      FOR UPDATE OF d SKIP LOCKED),
    claimed AS (
      UPDATE deployments SET lease_owner = gen_random_uuid(), sent_to_engine = true, waits_for = NULL,
        lease_until = now() + make_interval(secs => ${lease / 1000})
      WHERE id = ANY (ARRAY(SELECT id FROM locked))
      RETURNING id, generation, lease_owner, due_at),
    attached AS (
      UPDATE volumes SET sent_to_engine = true
      WHERE NOT sent_to_engine AND id IN (SELECT a.volume_id FROM attachments a JOIN claimed c ON c.id = a.deployment_id))
    SELECT claimed.generation AS claimed_generation, claimed.lease_owner::text AS owner, r.xmin = locked.version AS is_current,
      ${claimedColumns}
    FROM claimed JOIN locked ON locked.id = claimed.id JOIN deployments r ON r.id = claimed.id ${withRevision}
    ORDER BY claimed.due_at`);
  return rows.map(({ claimed_generation: generation, owner, is_current, ...row }) => {
    const held = { id: row.id, owner, generation };
    return {
      ...held,
      row: is_current ? row : undefined,
      ...keepAlive(statements, { ...held, requestedAt, lease }, shutdown),
    };
  });
}

/**
 * A constant as a part of the text of a statement. The plan of a statement depends less on the values
 * of its parameters then, so that PostgreSQL keeps one plan and does not plan each search.
 */
const constant = (value: number) => Prisma.raw(`${value}`);

/** Whether a worker can claim a deployment `d`, apart from its target. A part of an application waits for the others that it needs. */
export const isClaimable = Prisma.sql`(d.due_at <= now() AND coalesce(d.lease_until < now(), true)
  AND d.defaults_version <= ${constant(CURRENT_DEFAULTS)} AND (d.sent_to_engine OR d.desired_state = 'running') AND ${isFinished} IS NOT TRUE
  AND (d.waits_for IS NULL OR NOT EXISTS (SELECT FROM ${unmetWaits(Prisma.sql`d.waits_for`)})))`;

/**
 * Maximum number of due deployments that are read to find the targets with due deployments. If more
 * are due, all targets are searched.
 */
const MAX_DUE_READ = 1000;

/** The ids of the claimable deployments that have been due for the longest time. */
export const dueDeployments = (limit: number): Prisma.Sql => Prisma.sql`
  WITH due AS MATERIALIZED (
    SELECT host_id, cluster_id FROM deployments WHERE due_at <= now() ORDER BY due_at LIMIT ${constant(MAX_DUE_READ)})
  SELECT found.id FROM (
    ${dueOn(Prisma.sql`hosts`, Prisma.sql`host_id`, MAX_CONCURRENT.host)}
    UNION ALL
    ${dueOn(Prisma.sql`clusters`, Prisma.sql`cluster_id`, MAX_CONCURRENT.cluster)}) found
  ORDER BY found.due_at LIMIT ${limit}`;

/**
 * The claimable deployments on each target that is online: those that have been due for the longest
 * time, up to the number that can be reconciled beside those in progress. They are read from the
 * index on the target and `due_at`.
 */
const dueOn = (targets: Prisma.Sql, column: Prisma.Sql, maxConcurrent: number) => Prisma.sql`
  SELECT first.id, first.due_at
  FROM ${targets} t
    LEFT JOIN (SELECT ${column}, count(*) AS count FROM deployments WHERE lease_until > now() GROUP BY 1) busy
      ON busy.${column} = t.id
    CROSS JOIN LATERAL (
      SELECT d.id, d.due_at FROM deployments d
      WHERE d.${column} = t.id AND ${isClaimable}
      ORDER BY d.due_at LIMIT greatest(0, ${constant(maxConcurrent)} - coalesce(busy.count, 0))) first
  WHERE t.reachability = 'online'
    AND (t.id IN (SELECT ${column} FROM due) OR (SELECT count(*) FROM due) = ${constant(MAX_DUE_READ)})`;

interface LeaseStart {
  /** The time of the request for the lease, in milliseconds since 1970. */
  readonly requestedAt: number;
  /** Duration of the lease in milliseconds. */
  readonly lease: number;
}

/** Renews a lease three times in its duration. A lease that cannot be renewed is lost. */
function keepAlive(
  statements: Database['statements'],
  { id, owner, generation, requestedAt, lease }: Pick<Claim, 'id' | 'owner' | 'generation'> & LeaseStart,
  shutdown: AbortSignal,
): Pick<Claim, 'signal' | 'assertLease' | 'release'> {
  const controller = new AbortController();
  let lastRenewal = requestedAt; // so that the lease expires here no later than in the database
  const hasExpired = () => Date.now() - lastRenewal > lease;
  const renew = async () => {
    const now = Date.now();
    const [renewed] = await statements.read<{ generation: number }>(Prisma.sql`
      UPDATE deployments SET lease_until = now() + make_interval(secs => ${lease / 1000})
      WHERE id = ${id}::uuid AND lease_owner = ${owner}::uuid RETURNING generation`);
    if (renewed?.generation === generation) lastRenewal = now;
    else controller.abort(renewed ? new Superseded() : new LeaseLost());
  };
  const onRenewalError = () => {
    if (hasExpired()) controller.abort(new LeaseLost());
  };
  const timer = setInterval(() => void renew().catch(onRenewalError), lease / 3);
  timer.unref();
  const abort = () => controller.abort(new Superseded()); // another worker continues the pass
  shutdown.addEventListener('abort', abort);
  if (shutdown.aborted) abort();
  return {
    signal: controller.signal,
    assertLease: () => {
      if (hasExpired()) throw new LeaseLost();
    },
    release: () => {
      clearInterval(timer);
      shutdown.removeEventListener('abort', abort);
    },
  };
}

/** The worker no longer holds the lease. It must not write what it observed. */
export class LeaseLost extends Error {
  override name = 'LeaseLost';
}

/**
 * The generation is superseded, or the fleet stops. The pass ends, and the deployment is due at
 * once.
 */
export class Superseded extends Error {
  override name = 'Superseded';
}

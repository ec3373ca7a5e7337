import type { Database } from '../database/client.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { CURRENT_DEFAULTS } from '../render/defaults.ts';

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
 * Claims the deployments that have been due for the longest time, among those whose host or cluster
 * is online. Deployments on unreachable targets wait, so that they do not delay the others. A
 * deployment with newer defaults waits for a replica of the version that knows them. Sets
 * `sent_to_engine` of the deployments and their volumes, since an engine may receive them from now
 * on. The cost depends on the number of targets and on `limit`, but not on the number of
 * deployments.
 *
 * @param shutdown also aborts the claims
 */
export async function claimDue(
  { client }: Database,
  { lease, limit }: ClaimOptions,
  shutdown: AbortSignal,
): Promise<Claim[]> {
  const requestedAt = Date.now();
  const rows = await client.$queryRaw<{ id: string; generation: number; owner: string }[]>`
    WITH claimed AS (
      UPDATE deployments SET lease_owner = gen_random_uuid(), sent_to_engine = true,
        lease_until = now() + make_interval(secs => ${lease / 1000})
      WHERE id = ANY (ARRAY(
        SELECT d.id FROM deployments d WHERE d.id = ANY (ARRAY(${dueDeployments(limit)})) AND ${isClaimable}
        FOR UPDATE OF d SKIP LOCKED))
      RETURNING id, generation, lease_owner, due_at),
    attached AS (
      UPDATE volumes SET sent_to_engine = true
      WHERE NOT sent_to_engine AND id IN (SELECT a.volume_id FROM attachments a JOIN claimed c ON c.id = a.deployment_id))
    SELECT id, generation, lease_owner::text AS owner FROM claimed ORDER BY due_at`;
  return rows.map((row) => ({
    ...row,
    ...keepAlive(client, { ...row, requestedAt, lease }, shutdown),
  }));
}

/** Whether a worker can claim a deployment `d`, apart from its target. */
export const isClaimable = Prisma.sql`(d.due_at <= now() AND coalesce(d.lease_until < now(), true)
  AND d.defaults_version <= ${CURRENT_DEFAULTS} AND (d.sent_to_engine OR d.desired_state = 'running') AND ${isFinished} IS NOT TRUE)`;

/**
 * Maximum number of due deployments that are read to find the targets with due deployments. If more
 * are due, all targets are searched.
 */
const MAX_DUE_READ = 1000;

/** The ids of the claimable deployments that have been due for the longest time. */
export const dueDeployments = (limit: number): Prisma.Sql => Prisma.sql`
  WITH due AS MATERIALIZED (
    SELECT host_id, cluster_id FROM deployments WHERE due_at <= now() ORDER BY due_at LIMIT ${MAX_DUE_READ})
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
      ORDER BY d.due_at LIMIT greatest(0, ${maxConcurrent} - coalesce(busy.count, 0))) first
  WHERE t.reachability = 'online'
    AND (t.id IN (SELECT ${column} FROM due) OR (SELECT count(*) FROM due) = ${MAX_DUE_READ})`;

interface LeaseStart {
  /** The time of the request for the lease, in milliseconds since 1970. */
  readonly requestedAt: number;
  /** Duration of the lease in milliseconds. */
  readonly lease: number;
}

/** Renews a lease three times in its duration. A lease that cannot be renewed is lost. */
function keepAlive(
  client: Database['client'],
  { id, owner, generation, requestedAt, lease }: Pick<Claim, 'id' | 'owner' | 'generation'> & LeaseStart,
  shutdown: AbortSignal,
): Pick<Claim, 'signal' | 'assertLease' | 'release'> {
  const controller = new AbortController();
  let lastRenewal = requestedAt; // so that the lease expires here no later than in the database
  const hasExpired = () => Date.now() - lastRenewal > lease;
  const renew = async () => {
    const now = Date.now();
    const [renewed] = await client.$queryRaw<{ generation: number }[]>`
      UPDATE deployments SET lease_until = now() + make_interval(secs => ${lease / 1000})
      WHERE id = ${id}::uuid AND lease_owner = ${owner}::uuid RETURNING generation`;
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

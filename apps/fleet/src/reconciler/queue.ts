import { randomUUID } from 'node:crypto';
import type { Database } from '../database/client.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { CURRENT_DEFAULTS } from '../render/defaults.ts';

/**
 * Maximum number of deployments per host or cluster that all replicas of the fleet reconcile concurrently. A host is a single
 * machine, so its limit is lower. Both limits are less than the number of workers of a process: a target that does not respond
 * must leave workers for the other targets, even if the fleet has a single replica.
 */
const MAX_CONCURRENT = { host: 4, cluster: 6 } as const;

/** A deployment that this worker holds the lease on. The lease is renewed until `release` is called. */
export interface Claim {
  readonly id: string;
  readonly owner: string;
  readonly generation: number;
  /**
   * Aborted with LeaseLost when the lease is lost, and with Superseded when the generation is superseded or the fleet stops.
   */
  readonly signal: AbortSignal;
  /**
   * Compares the time of the last renewal with the clock of the process. It detects an expired lease in a process that was
   * suspended, before any timer runs. @throws LeaseLost
   */
  assertLease(): void;
  /** Stops the renewal of the lease. */
  release(): void;
}

/**
 * Whether the current generation of a deployment has finished and must not be reconciled again. A completed job would run again
 * if its container had been removed. A deployment without its GPUs would run without them for a moment in each pass.
 */
const isFinished = Prisma.sql`(d.observed_generation = d.generation AND NOT d.deleting AND d.desired_state = 'running'
  AND (d.phase = 'stopped' OR d.phase = 'failed' AND d.reason = 'GpuMissing'))`;

/**
 * Claims the deployment that has been due for the longest time, among those whose host or cluster is online. Deployments on
 * unreachable targets wait, so that they do not delay the others. A deployment with newer defaults waits for a replica of the
 * version that knows them. Sets `sent_to_engine` of the deployment and its volumes, since
 * an engine may receive them from now on.
 *
 * @param lease milliseconds
 * @param shutdown also aborts the claim
 */
export async function claimNext(
  { client }: Database,
  lease: number,
  shutdown: AbortSignal,
): Promise<Claim | undefined> {
  const owner = randomUUID();
  const requestedAt = Date.now();
  const [row] = await client.$queryRaw<{ id: string; generation: number }[]>`
    WITH claimed AS (
      UPDATE deployments SET lease_owner = ${owner}::uuid, sent_to_engine = true,
        lease_until = now() + make_interval(secs => ${lease / 1000})
      WHERE id = (
        SELECT d.id FROM deployments d LEFT JOIN hosts h ON h.id = d.host_id LEFT JOIN clusters c ON c.id = d.cluster_id
        WHERE d.due_at <= now() AND coalesce(d.lease_until < now(), true) AND 'online' IN (h.reachability, c.reachability)
          AND d.defaults_version <= ${CURRENT_DEFAULTS}
          AND (d.sent_to_engine OR d.desired_state = 'running') AND ${isFinished} IS NOT TRUE
          AND (SELECT count(*) FROM deployments o WHERE o.host_id = d.host_id AND o.lease_until > now()) < ${MAX_CONCURRENT.host}
          AND (SELECT count(*) FROM deployments o WHERE o.cluster_id = d.cluster_id AND o.lease_until > now()) < ${MAX_CONCURRENT.cluster}
        ORDER BY d.due_at LIMIT 1 FOR UPDATE OF d SKIP LOCKED)
      RETURNING id, generation),
    attached AS (
      UPDATE volumes SET sent_to_engine = true
      WHERE NOT sent_to_engine AND id IN (SELECT a.volume_id FROM attachments a JOIN claimed c ON c.id = a.deployment_id))
    SELECT id, generation FROM claimed`;
  return row && { ...row, owner, ...keepAlive(client, { ...row, owner, requestedAt, lease }, shutdown) };
}

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

/** The generation is superseded, or the fleet stops. The pass ends, and the deployment is due at once. */
export class Superseded extends Error {
  override name = 'Superseded';
}

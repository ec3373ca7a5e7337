import { randomUUID } from 'node:crypto';
import type { Database } from '../database/client.ts';
import { Prisma } from '../generated/prisma/client.ts';

/**
 * How many deployments of one place are worked on at once, over all replicas of the fleet: a host is one machine. One that hangs
 * must leave a worker to the others, also where one process is all of the fleet.
 */
const AT_ONCE = { host: 4, cluster: 6 } as const;

/** A deployment that this worker alone works on, as long as it says that it lives. */
export interface Claim {
  readonly id: string;
  readonly owner: string;
  readonly generation: number;
  /** Ends when somebody else may have it, and when somebody asked for something else meanwhile. */
  readonly signal: AbortSignal;
  /** By the clock alone, for a process that was frozen and has not heard of anything yet. @throws LeaseLost */
  mustHold(): void;
  /** No more signs of life. */
  release(): void;
}

/**
 * Of a deployment: its generation came to an end for good. A job has done its work, and would do it again where its container was
 * cleared away; what lacks its GPUs would run for a moment each time without them.
 */
const isOver = Prisma.sql`(d.observed_generation = d.generation AND NOT d.deleting AND d.desired_state = 'running'
  AND (d.phase = 'stopped' OR d.phase = 'failed' AND d.reason = 'GpuMissing'))`;

/**
 * The deployment that is due for longest, of those whose host or cluster is there: what is away waits without being asked, so that it slows
 * nobody down. From here on an engine may know of it. The work ends with `ending`, too.
 *
 * @param lease milliseconds
 */
export async function claimNext({ client }: Database, lease: number, ending: AbortSignal): Promise<Claim | undefined> {
  const owner = randomUUID();
  const asked = Date.now();
  const [row] = await client.$queryRaw<{ id: string; generation: number }[]>`
    WITH claimed AS (
      UPDATE deployments SET lease_owner = ${owner}::uuid, touched = true,
        lease_until = now() + make_interval(secs => ${lease / 1000})
      WHERE id = (
        SELECT d.id FROM deployments d LEFT JOIN hosts h ON h.id = d.host_id LEFT JOIN clusters c ON c.id = d.cluster_id
        WHERE d.due_at <= now() AND coalesce(d.lease_until < now(), true) AND 'online' IN (h.reachability, c.reachability)
          AND (d.touched OR d.desired_state = 'running') AND ${isOver} IS NOT TRUE
          AND (SELECT count(*) FROM deployments o WHERE o.host_id = d.host_id AND o.lease_until > now()) < ${AT_ONCE.host}
          AND (SELECT count(*) FROM deployments o WHERE o.cluster_id = d.cluster_id AND o.lease_until > now()) < ${AT_ONCE.cluster}
        ORDER BY d.due_at LIMIT 1 FOR UPDATE OF d SKIP LOCKED)
      RETURNING id, generation),
    touched AS (
      UPDATE volumes SET touched = true
      WHERE NOT touched AND id IN (SELECT a.volume_id FROM attachments a JOIN claimed c ON c.id = a.deployment_id))
    SELECT id, generation FROM claimed`;
  return row && { ...row, owner, ...keepAlive(client, { ...row, owner, asked, lease }, ending) };
}

interface Asked {
  /** When the lease was asked for. */
  readonly asked: number;
  /** Milliseconds. */
  readonly lease: number;
}

/** Renews a lease three times in its period. A lease that cannot be renewed is lost. */
function keepAlive(
  client: Database['client'],
  { id, owner, generation, asked, lease }: Pick<Claim, 'id' | 'owner' | 'generation'> & Asked,
  ending: AbortSignal,
): Pick<Claim, 'signal' | 'mustHold' | 'release'> {
  const ended = new AbortController();
  let lastSign = asked; // a lease runs from before it was given
  const hasRunOut = () => Date.now() - lastSign > lease;
  const beat = async () => {
    const now = Date.now();
    const [kept] = await client.$queryRaw<{ generation: number }[]>`
      UPDATE deployments SET lease_until = now() + make_interval(secs => ${lease / 1000})
      WHERE id = ${id}::uuid AND lease_owner = ${owner}::uuid RETURNING generation`;
    if (kept?.generation === generation) lastSign = now;
    else ended.abort(kept ? new Superseded() : new LeaseLost());
  };
  const missed = () => {
    if (hasRunOut()) ended.abort(new LeaseLost());
  };
  const timer = setInterval(() => void beat().catch(missed), lease / 3);
  timer.unref();
  const end = () => ended.abort(new Superseded()); // whoever comes next goes on
  ending.addEventListener('abort', end);
  if (ending.aborted) end();
  return {
    signal: ended.signal,
    mustHold: () => {
      if (hasRunOut()) throw new LeaseLost();
    },
    release: () => {
      clearInterval(timer);
      ending.removeEventListener('abort', end);
    },
  };
}

/** Somebody else has it by now, or nobody: whatever was found out is not written. */
export class LeaseLost extends Error {
  override name = 'LeaseLost';
}

/** There is a later generation: the work on this one is of no use any more. */
export class Superseded extends Error {
  override name = 'Superseded';
}

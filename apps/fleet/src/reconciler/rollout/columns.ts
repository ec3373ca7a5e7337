import { hostNetworksOf } from '../../deployments/networks/attached.ts';
import { addressesRelease } from '../../deployments/networks/store.ts';
import { portsRelease } from '../../deployments/ports.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { placementRequirementsOf } from '../../placement/candidates.ts';
import type { Claim, ClaimedRow } from '../queue.ts';
import type { RolloutAfter } from './state.ts';

type Row = Pick<
  ClaimedRow,
  'now' | 'host_image' | 'host_id' | 'extra_instances' | 'spec' | 'replicas' | 'networks' | 'env'
>;

/** The columns for a rollout after a pass, followed by a comma. */
export function rolloutColumns(row: Row, after: RolloutAfter | undefined): Prisma.Sql {
  if (!after) return Prisma.empty;
  const { rollout, elapsedMs, isGood } = after;
  const { now, extra_instances, spec, replicas } = row;
  const { cpu_millis, memory_bytes } = placementRequirementsOf(spec, replicas).per_replica;
  const released =
    isGood && extra_instances > 0
      ? Prisma.sql`extra_instances = 0, cpu_millis = ${cpu_millis}::bigint * replicas, memory_bytes = ${memory_bytes}::bigint * replicas,`
      : Prisma.empty;
  return Prisma.sql`rollout = ${rollout && JSON.stringify(rollout)}::jsonb, rollout_elapsed_ms = ${Math.round(elapsedMs)},
    rollout_observed_at = ${now}, good_generation = CASE WHEN ${isGood} THEN generation ELSE good_generation END, ${released}`;
}

/** Statements that release the ports, addresses and GPUs on a host that only a rollout needed. */
export function releaseRecords(
  { id }: Pick<Claim, 'id'>,
  { host_id, spec, replicas, extra_instances, networks, env }: Row,
  after: RolloutAfter | undefined,
): Prisma.Sql[] {
  if (host_id === null || !after?.isGood || after.rollout === null) return [];
  const isWritten = Prisma.sql`AND EXISTS (SELECT FROM updated)`;
  const gpus = Prisma.sql`DELETE FROM allocated_gpus WHERE deployment_id = ${id}::uuid AND ordinal >= ${replicas} ${isWritten}`;
  const inUse = hostNetworksOf(networks, env).map((network) => network.id);
  return [
    Prisma.sql`${portsRelease({ deploymentId: id, replicas, spec })} ${isWritten}`,
    ...(networks.length > 0
      ? [Prisma.sql`${addressesRelease({ deploymentId: id, replicas, networks: inUse })} ${isWritten}`]
      : []),
    ...(extra_instances > 0 ? [gpus] : []),
  ];
}

interface Ended {
  readonly after: RolloutAfter | undefined;
  /** The digest of the image of all instances, if it is known. */
  readonly imageDigest: string | null;
  /** The image that the host runs, if it is known. */
  readonly hostImage: Row['host_image'];
}

/** Statements that record how rollouts have ended in the revisions of their generations. */
export function outcomeRecords(
  { id, generation }: Pick<Claim, 'id' | 'generation'>,
  { after, imageDigest, hostImage }: Ended,
): Prisma.Sql[] {
  if (!after) return [];
  const { isGood, failure, supersedes } = after;
  const ofRevision = (which: number) =>
    Prisma.sql`WHERE deployment_id = ${id}::uuid AND generation = ${which} AND EXISTS (SELECT FROM updated)`;
  return [
    ...(isGood
      ? [
          Prisma.sql`UPDATE deployment_revisions SET outcome = 'good', outcome_reason = NULL, outcome_at = now(), image_digest = ${imageDigest},
            rendered = rendered || jsonb_build_object('host_image', ${hostImage && JSON.stringify(hostImage)}::jsonb) ${ofRevision(generation)}`,
        ]
      : []),
    ...(failure
      ? [
          Prisma.sql`UPDATE deployment_revisions SET outcome = 'failed', outcome_reason = ${failure.reason}, outcome_at = now(),
            image_digest = ${imageDigest} ${ofRevision(generation)}`,
        ]
      : []),
    ...(supersedes === undefined
      ? []
      : [
          Prisma.sql`UPDATE deployment_revisions SET outcome = 'superseded', outcome_at = now() ${ofRevision(supersedes)} AND outcome IS NULL`,
        ]),
  ];
}

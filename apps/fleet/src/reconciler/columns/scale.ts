import type { Observation } from '../../engines/observation.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Desired } from '../desired.ts';
import type { Claim } from '../queue.ts';

type Row = Pick<Desired['row'], 'cluster_id' | 'replicas'>;

/** The number of replicas that a pass has taken over from the cluster; undefined without another one. */
function keptNumber({ replicas }: Row, { scale }: Observation): number | undefined {
  return scale?.isKept && scale.replicas !== replicas && scale.replicas > 0 ? scale.replicas : undefined;
}

interface Observed {
  readonly row: Row;
  readonly observed: Observation;
  /** Whether the deployment must run. */
  readonly isRunning: boolean;
}

/**
 * The columns for the number of replicas in the cluster, each followed by a comma. A number that the
 * fleet has taken over becomes that of the deployment, with the resources of that many replicas. A
 * failed pass keeps what the one before it has observed.
 */
export function scaleColumns({ row, observed, isRunning }: Observed): Prisma.Sql {
  const { scale } = observed;
  if (row.cluster_id === null || (isRunning && !scale)) return Prisma.empty;
  const stored = isRunning && scale ? JSON.stringify({ replicas: scale.replicas, manager: scale.manager }) : null;
  const columns = Prisma.sql`observed_scale = ${stored}::jsonb,`;
  const kept = keptNumber(row, observed);
  if (kept === undefined) return columns;
  return Prisma.sql`${columns} replicas = ${kept}, cpu_millis = cpu_millis / replicas * ${kept}::int,
    memory_bytes = memory_bytes / replicas * ${kept}::int,`;
}

/** The expression for the number of GPUs of a deployment, which is that of all its replicas. */
export function gpuCount(row: Row, observed: Observation): Prisma.Sql {
  const kept = keptNumber(row, observed);
  return kept === undefined ? Prisma.sql`gpu_count` : Prisma.sql`gpu_count / replicas * ${kept}::int`;
}

/** A statement that records a number that the fleet has taken over as that of the generation. */
export function keptScaleRecord({ id, generation }: Claim, row: Row, observed: Observation): Prisma.Sql[] {
  const kept = keptNumber(row, observed);
  if (kept === undefined) return [];
  return [
    Prisma.sql`
      UPDATE deployment_revisions SET replicas = ${kept}
      WHERE deployment_id = ${id}::uuid AND generation = ${generation} AND EXISTS (SELECT FROM updated)`,
  ];
}

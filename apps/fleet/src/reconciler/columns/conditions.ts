import type { Observation } from '../../engines/observation.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Desired } from '../desired.ts';

interface Observed {
  readonly row: Pick<Desired['row'], 'conditions' | 'cluster_id'>;
  readonly observed: Observation;
  /** Whether the deployment must run. */
  readonly isRunning: boolean;
}

/**
 * The column for the conditions that a pass on a cluster has observed, followed by a comma. A
 * condition that has not changed keeps its time, so that it is not recorded as a change. A deployment
 * that must not run has none.
 */
export function conditionColumn({ row, observed, isRunning }: Observed): Prisma.Sql {
  const { conditions: before, cluster_id } = row;
  if (cluster_id === null) return Prisma.empty;
  const { conditions = isRunning ? undefined : [] } = observed;
  if (conditions === undefined) return Prisma.empty;
  const now = new Date().toISOString();
  const stored = conditions.map((condition) => {
    const same = before.find(
      ({ type, status, reason, message }) =>
        type === condition.type &&
        status === condition.status &&
        reason === condition.reason &&
        message === condition.message,
    );
    return { ...condition, at: same?.at ?? now };
  });
  return Prisma.sql`conditions = ${JSON.stringify(stored)}::jsonb,`;
}

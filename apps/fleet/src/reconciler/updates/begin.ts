import { type Log, Problem } from '@svc/http';
import type { Hold } from '../../deployments/updates/limits.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { ReturnContext } from '../rollout/restore.ts';
import type { ReconcilerTimings } from '../timings.ts';
import { applyUpdate, type Changed } from './apply.ts';
import { takeTurn } from './turns.ts';

export interface AutomaticContext extends ReturnContext {
  readonly log: Log;
  readonly timings: Pick<ReconcilerTimings, 'automaticUpdates' | 'afterError'>;
  /** The maximum number of automatic rollouts at the same time, of all replicas. */
  readonly updateConcurrency: number;
}

/** A hold is examined again after this time, because what is refused can become possible, such as with more capacity. */
export const EXAMINED_AGAIN = Prisma.sql`interval '1 hour'`;

/**
 * Makes an automatic update, which is held or made by `make`, unless as many as possible are in progress.
 * @returns why it is held; `full` if no further update can begin now
 */
export async function attempt(
  context: AutomaticContext,
  make: (transaction: Prisma.TransactionClient) => Promise<Hold | Changed | undefined>,
): Promise<Hold | 'full' | 'done'> {
  let ended: Hold | 'full' | 'done' = 'done';
  try {
    await applyUpdate(context, {
      requestId: 'automatic-update',
      make: async (transaction) => {
        const begun = (await canBegin(transaction, context.updateConcurrency)) ? await make(transaction) : 'full';
        if (typeof begun === 'object' && 'path' in begun) return begun;
        ended = begun ?? 'done';
        return undefined;
      },
    });
    return ended;
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    return { reason: reasonOf(error), message: error.message };
  }
}

/** The code of a problem as a reason, such as `NoPlacement`. */
const reasonOf = ({ code }: Problem): string =>
  code
    .split('_')
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join('');

/** Whether another automatic rollout can begin, and no other replica decides about one. An upgrade of an application is one. */
async function canBegin(transaction: Prisma.TransactionClient, concurrency: number): Promise<boolean> {
  if (!(await takeTurn(transaction, 'automatic updates'))) return false;
  const [row] = await transaction.$queryRaw<{ running: number }[]>`
    SELECT (
      SELECT count(*) FROM deployments
      WHERE automatic_generation = generation AND desired_state = 'running' AND NOT deleting
        AND (observed_generation IS DISTINCT FROM generation OR rollout->>'state' IN ('progressing', 'returning'))
    )::int + (
      SELECT count(*) FROM applications a
        JOIN application_generations g ON g.application_id = a.id AND g.generation = a.generation
      WHERE a.automatic_generation = a.generation AND a.desired_state = 'running' AND NOT a.deleting AND g.outcome IS NULL
    )::int AS running`;
  return row !== undefined && row.running < concurrency;
}

/** The last generation that a person has made, or that has restored an earlier one. */
interface LastDecided {
  readonly generation: number;
  readonly is_restored: boolean;
  readonly by_fleet: boolean;
}

/** That an earlier generation was restored, by the fleet or a person, and no person has changed the object since. */
export function restoredSinceChange(last: LastDecided | undefined): Hold | undefined {
  if (!last?.is_restored) return undefined;
  const { generation, by_fleet } = last;
  return by_fleet
    ? {
        reason: 'Returned',
        message: `The fleet has returned from generation ${generation - 1}, and nobody has changed it since.`,
      }
    : {
        reason: 'RolledBack',
        message: `Generation ${generation} restores an earlier one, and nobody has changed it since.`,
      };
}

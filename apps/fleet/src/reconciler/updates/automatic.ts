import { type PeriodicTask, Problem, runPeriodically } from '@svc/http';
import { z } from 'zod';
import { readWorkloadRevision } from '../../deployments/draft.ts';
import { type DeploymentRow, deployments } from '../../deployments/rows.ts';
import { beyondAutomatic, type Hold } from '../../deployments/updates/limits.ts';
import { storedUpdates } from '../../deployments/updates/policy.ts';
import { digestOfUpgrade, upgradeOf } from '../../deployments/updates/upgrade.ts';
import { isOpen } from '../../deployments/updates/window.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { readRow } from '../../resources/kind.ts';
import { acquirePlacementLock } from '../../resources/placement-lock.ts';
import {
  automaticHold,
  automaticKinds,
  hasAutomaticUpdate,
  isAutomatic,
  storeHold,
  type UpdateKind,
  updateKinds,
} from '../../resources/updates.ts';
import { applyUpdate } from './apply.ts';
import type { UpdateContext } from './runs.ts';
import { takeTurn } from './turns.ts';

export interface AutomaticContext extends UpdateContext {
  /** The maximum number of automatic rollouts at the same time, of all replicas. */
  readonly updateConcurrency: number;
}

/**
 * Updates deployments automatically whose policy says so, until stopped. One replica at a time decides, in the transaction that makes
 * the update, so that replicas together stay within the concurrency.
 */
export const startAutomaticUpdates = (context: AutomaticContext): PeriodicTask =>
  runPeriodically(Math.random() * context.timings.automaticUpdates, async (ending) => {
    try {
      await updateAutomatically(context, ending);
      return context.timings.automaticUpdates;
    } catch (error) {
      context.log.warn({ err: error }, 'updating deployments automatically failed; will retry');
      return context.timings.afterError;
    }
  });

/** The number of deployments that are read at once, and that one pass examines. */
const PAGE = 100;
const MAX_EXAMINED = 1000;

/** A pass: starts the updates that can begin now, and stores why others are held. */
export async function updateAutomatically(context: AutomaticContext, ending: AbortSignal): Promise<void> {
  let after = '00000000-0000-0000-0000-000000000000';
  for (let examined = 0; examined < MAX_EXAMINED && !ending.aborted; ) {
    const page = await readCandidates(context, after);
    for (const candidate of page) {
      if (ending.aborted) return;
      after = candidate.id;
      if (!isInWindow(candidate)) continue;
      examined += 1;
      if ((await updateOne(context, candidate.id)) === 'full') return;
    }
    if (page.length < PAGE) return;
  }
}

const candidate = z.object({ id: z.string(), updates: storedUpdates, now: z.date() });
type Candidate = z.output<typeof candidate>;

const isInWindow = ({ updates: { window }, now }: Candidate): boolean => window == null || isOpen(window, now);

/** A hold is examined again after this time, because what is refused can become possible, such as with more capacity. */
const EXAMINED_AGAIN = Prisma.sql`interval '1 hour'`;

async function readCandidates({ database: { client } }: AutomaticContext, after: string): Promise<Candidate[]> {
  const rows = await client.$queryRaw<unknown[]>`
    SELECT r.id, r.updates, now() AS now FROM deployments r
    WHERE ${isAutomatic} AND r.id > ${after}::uuid AND r.phase = 'running' AND r.desired_state = 'running' AND NOT r.deleting
      AND r.observed_generation = r.generation AND coalesce(r.rollout->>'state', '') NOT IN ('progressing', 'returning')
      AND ${hasAutomaticUpdate} AND coalesce((${automaticHold}->>'at')::timestamptz < now() - ${EXAMINED_AGAIN}, true)
    ORDER BY r.id LIMIT ${PAGE}`;
  return z.array(candidate).parse(rows);
}

/** Updates a deployment, or stores why that is held. `full`: no further update can begin now. */
async function updateOne(context: AutomaticContext, id: string): Promise<'full' | 'done'> {
  let held: Hold | undefined;
  let isFull = false;
  const prepare = async (transaction: Prisma.TransactionClient) => {
    isFull = !(await canBegin(transaction, context.updateConcurrency));
    if (isFull) return undefined;
    await acquirePlacementLock(transaction); // before the row, as each change
    const row = await lockCandidate(transaction, id);
    if (!row) return undefined;
    const permitted = automaticKinds(row.updates.from ?? 'manual');
    const kinds = updateKinds(row).filter((kind) => permitted.includes(kind));
    held = await holdOf(transaction, row, kinds);
    if (held) return undefined;
    const { defaultLimits } = context;
    return { expected: await digestOfUpgrade(transaction, row, { defaultLimits, kinds }), kinds };
  };
  try {
    await applyUpdate(context, {
      id,
      by: 'automatically',
      requestId: 'automatic-update',
      prepare,
      record: (transaction, generation) =>
        transaction.deployment.update({
          where: { id },
          data: { automatic_generation: generation, update_held: Prisma.DbNull },
        }),
    });
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    held = { reason: reasonOf(error), message: error.message };
  }
  if (held) await storeHold(context.database.client, id, held);
  return isFull ? 'full' : 'done';
}

/** The code of a problem as a reason, such as `NoPlacement`. */
const reasonOf = ({ code }: Problem): string =>
  code
    .split('_')
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join('');

/** Whether another automatic rollout can begin, and no other replica decides about one. */
async function canBegin(transaction: Prisma.TransactionClient, concurrency: number): Promise<boolean> {
  if (!(await takeTurn(transaction, 'automatic updates'))) return false;
  const [row] = await transaction.$queryRaw<{ running: number }[]>`
    SELECT count(*)::int AS running FROM deployments
    WHERE automatic_generation = generation AND desired_state = 'running' AND NOT deleting
      AND (observed_generation IS DISTINCT FROM generation OR rollout->>'state' IN ('progressing', 'returning'))`;
  return row !== undefined && row.running < concurrency;
}

/** The deployment, locked; undefined if it must not be updated automatically any more. */
async function lockCandidate(transaction: Prisma.TransactionClient, id: string): Promise<DeploymentRow | undefined> {
  const [locked] = await transaction.$queryRaw<unknown[]>`
    SELECT FROM deployments r
    WHERE r.id = ${id}::uuid AND ${isAutomatic} AND r.phase = 'running' AND r.desired_state = 'running' AND NOT r.deleting
      AND r.observed_generation = r.generation AND ${hasAutomaticUpdate} FOR UPDATE OF r SKIP LOCKED`;
  return locked ? readRow(transaction, deployments, id) : undefined;
}

/** Why an available update of a deployment is not made automatically. The decision about it can find further reasons. */
async function holdOf(
  transaction: Prisma.TransactionClient,
  row: DeploymentRow,
  kinds: readonly UpdateKind[],
): Promise<Hold | undefined> {
  const restored = await restoredSinceChange(transaction, row);
  if (restored) return restored;
  const before = await readWorkloadRevision(transaction, row.workload_id, row.revision);
  const { workload } = await upgradeOf(transaction, row, kinds);
  return beyondAutomatic(before.spec, workload.spec);
}

/** That an earlier generation was restored, by the fleet or a person, and no person has changed the deployment since. */
async function restoredSinceChange(
  transaction: Prisma.TransactionClient,
  { id }: Pick<DeploymentRow, 'id'>,
): Promise<Hold | undefined> {
  const [last] = await transaction.$queryRaw<{ generation: number; is_restored: boolean; by_fleet: boolean }[]>`
    SELECT generation, operation = 'rollback' AS is_restored, created_by = 'fleet' AS by_fleet FROM deployment_revisions
    WHERE deployment_id = ${id}::uuid AND (created_by <> 'fleet' OR operation = 'rollback')
    ORDER BY generation DESC LIMIT 1`;
  if (!last?.is_restored) return undefined;
  const { generation, by_fleet } = last;
  return by_fleet
    ? {
        reason: 'Returned',
        message: `The fleet has returned from generation ${generation - 1}, and nobody has changed the deployment since.`,
      }
    : {
        reason: 'RolledBack',
        message: `Generation ${generation} restores an earlier one, and nobody has changed the deployment since.`,
      };
}

import { type Log, type PeriodicTask, Problem, runPeriodically } from '@svc/http';
import { endRun } from '../../deployments/update-runs/runs.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { hasPresentRole } from '../../identity/authority.ts';
import type { Settings } from '../../settings/settings.ts';
import type { ReturnContext } from '../rollout/restore.ts';
import type { ReconcilerTimings } from '../timings.ts';
import { applyUpdate, updateAsPlanned, upgradeAsPlanned } from './apply.ts';

export interface UpdateContext extends ReturnContext {
  readonly log: Log;
  readonly settings: Pick<Settings, 'oidc'>;
  readonly timings: Pick<ReconcilerTimings, 'updates' | 'afterError'>;
}

/**
 * Continues the update runs that have not ended, until stopped. Each step is one transaction that locks the run, so that replicas
 * share the work, and one that is killed leaves a step that the next pass repeats or continues.
 */
export const startUpdateRuns = (context: UpdateContext): PeriodicTask =>
  runPeriodically(Math.random() * context.timings.updates, async (ending) => {
    try {
      const runs = await context.database.client.$queryRaw<{ id: string }[]>`
        SELECT id FROM update_runs WHERE state = 'running'
        UNION SELECT run_id FROM update_run_items WHERE state = 'updating'`;
      for (const { id } of runs) if (!ending.aborted) await continueRun(context, id, ending);
      return context.timings.updates;
    } catch (error) {
      context.log.warn({ err: error }, 'continuing update runs failed; will retry');
      return context.timings.afterError;
    }
  });

/** A pass of a run: records which updates have ended, then starts those of the present wave. */
export async function continueRun(context: UpdateContext, id: string, ending: AbortSignal): Promise<void> {
  const next = await context.database.client.$transaction(async (transaction) => {
    if (!(await lockRun(transaction, id))) return [];
    await settleDeployments(transaction, id);
    await settleApplications(transaction, id);
    await endWithCreator(context, transaction, id);
    return nextItems(transaction, id);
  });
  for (const item of next) {
    if (ending.aborted || !(await startItem(context, id, item))) return;
  }
}

/** Locks a run until the end of the transaction. @returns false if another replica continues it */
async function lockRun(transaction: Prisma.TransactionClient, id: string): Promise<boolean> {
  const rows = await transaction.$queryRaw<unknown[]>`
    SELECT FROM update_runs WHERE id = ${id}::uuid FOR UPDATE SKIP LOCKED`;
  return rows.length > 0;
}

/**
 * Records how updates have ended. Only services that run have an outcome. A job has a new configuration when a worker has observed
 * it, and a stopped deployment at once.
 */
const settleDeployments = (transaction: Prisma.TransactionClient, id: string) => transaction.$executeRaw`
  UPDATE update_run_items i SET state = ended.state, message = ended.message
  FROM (
    SELECT i.deployment_id, how.state, how.message
    FROM update_run_items i
      LEFT JOIN deployments d ON d.id = i.deployment_id
      LEFT JOIN deployment_revisions v ON v.deployment_id = i.deployment_id AND v.generation = i.generation
      CROSS JOIN LATERAL (SELECT
        CASE
          WHEN v.outcome = 'good' THEN 'succeeded'
          WHEN v.outcome = 'failed' THEN 'failed'
          WHEN d.id IS NULL OR d.generation > i.generation THEN 'skipped'
          WHEN d.desired_state = 'stopped' THEN 'succeeded'
          WHEN d.observed_generation = i.generation AND d.rollout IS NULL THEN
            CASE WHEN d.phase = 'failed' THEN 'failed' WHEN d.phase IN ('running', 'stopped') THEN 'succeeded' END
        END AS state,
        CASE
          WHEN v.outcome = 'good' THEN ''
          WHEN v.outcome = 'failed' THEN format('Generation %s failed: %s.', i.generation, coalesce(v.outcome_reason, 'Failed'))
          WHEN d.id IS NULL THEN 'It was deleted before its update ended.'
          WHEN d.generation > i.generation THEN 'It was changed before its update ended.'
          WHEN d.phase = 'failed' THEN format('Generation %s failed: %s.', i.generation, coalesce(d.reason, 'Failed'))
          ELSE ''
        END AS message) how
    WHERE i.run_id = ${id}::uuid AND i.kind = 'deployment' AND i.state = 'updating' AND how.state IS NOT NULL) ended
  WHERE i.run_id = ${id}::uuid AND i.deployment_id = ended.deployment_id`;

/** The same of applications. The generation of a stopped one ends at once. */
const settleApplications = (transaction: Prisma.TransactionClient, id: string) => transaction.$executeRaw`
  UPDATE update_run_items i SET state = ended.state, message = ended.message
  FROM (
    SELECT i.deployment_id, how.state, how.message
    FROM update_run_items i
      LEFT JOIN applications a ON a.id = i.deployment_id
      LEFT JOIN application_generations g ON g.application_id = i.deployment_id AND g.generation = i.generation
      CROSS JOIN LATERAL (SELECT
        CASE
          WHEN g.outcome = 'good' THEN 'succeeded'
          WHEN g.outcome = 'failed' THEN 'failed'
          WHEN a.id IS NULL OR g.outcome = 'superseded' THEN 'skipped'
          WHEN a.desired_state = 'stopped' THEN 'succeeded'
        END AS state,
        CASE
          WHEN g.outcome = 'failed' THEN format('Generation %s failed (%s).', i.generation, g.outcome_reason)
          WHEN g.outcome IS NOT NULL AND g.outcome <> 'superseded' THEN ''
          WHEN a.id IS NULL THEN 'It was deleted before its update ended.'
          WHEN g.outcome = 'superseded' THEN 'It was changed before its update ended.'
          ELSE ''
        END AS message) how
    WHERE i.run_id = ${id}::uuid AND i.kind = 'application' AND i.state = 'updating' AND how.state IS NOT NULL) ended
  WHERE i.run_id = ${id}::uuid AND i.deployment_id = ended.deployment_id`;

/** Ends a run whose creator can no longer change deployments. What has begun continues. */
async function endWithCreator({ settings }: UpdateContext, transaction: Prisma.TransactionClient, id: string) {
  const run = await transaction.updateRun.findUniqueOrThrow({ where: { id } });
  if (await hasPresentRole(transaction, run, { role: 'operator', settings })) return;
  const message = `It was not updated, because ${run.created_by} can no longer change deployments.`;
  await endRun(transaction, id, { state: 'stopped', message });
}

/** A planned update of a run that has not begun. */
interface Item {
  readonly deployment_id: string;
  readonly kind: string;
  readonly expected: string;
  readonly created_by: string;
}

/** Ends a run that is complete or has failed too often. @returns the items of the present wave that have not begun */
async function nextItems(transaction: Prisma.TransactionClient, id: string): Promise<Item[]> {
  const [run] = await transaction.$queryRaw<{ open: number; failed: number; stop_after: number }[]>`
    SELECT r.stop_after, count(*) FILTER (WHERE i.state IN ('waiting', 'updating'))::int AS open,
      count(*) FILTER (WHERE i.state = 'failed')::int AS failed
    FROM update_runs r JOIN update_run_items i ON i.run_id = r.id
    WHERE r.id = ${id}::uuid AND r.state = 'running' GROUP BY r.id`;
  if (!run) return [];
  if (run.open === 0) await endRun(transaction, id, { state: 'completed', message: '' });
  if (run.open > 0 && run.failed >= run.stop_after) {
    const message = `It was not updated, because ${run.failed} updates of the run have failed.`;
    await endRun(transaction, id, { state: 'stopped', message });
    return [];
  }
  return transaction.$queryRaw<Item[]>`
    SELECT i.deployment_id, i.kind, i.expected, r.created_by
    FROM update_runs r JOIN update_run_items i ON i.run_id = r.id
    WHERE r.id = ${id}::uuid AND i.state = 'waiting'
      AND i.wave = (SELECT min(o.wave) FROM update_run_items o WHERE o.run_id = r.id AND o.state IN ('waiting', 'updating'))
    ORDER BY i.position`;
}

/** Starts the update of an item. @returns whether further items of the wave can start */
async function startItem(context: UpdateContext, runId: string, item: Item): Promise<boolean> {
  const { deployment_id, kind, expected, created_by } = item;
  const set = (transaction: Prisma.TransactionClient, data: Prisma.UpdateRunItemUncheckedUpdateManyInput) =>
    transaction.updateRunItem.updateMany({ where: { run_id: runId, deployment_id, state: 'waiting' }, data });
  try {
    return await applyUpdate(context, {
      requestId: runId,
      make: async (transaction) => {
        if (!(await canStart(transaction, runId, deployment_id))) return undefined;
        const by = `by the update run ${runId} of ${created_by}`;
        const update = kind === 'application' ? upgradeAsPlanned : updateAsPlanned;
        const updated = await update(context, transaction, { id: deployment_id, expected, by });
        await set(transaction, { state: 'updating', generation: updated.generation });
        return updated;
      },
    });
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    const state = SKIPPING.includes(error.code) ? 'skipped' : 'failed';
    return context.database.client.$transaction(async (transaction) => {
      if (!(await canStart(transaction, runId, deployment_id))) return false;
      const message = error.code === 'not_found' ? 'It was deleted before its turn.' : error.message;
      await set(transaction, { state, message });
      return true;
    });
  }
}

/** The problems of an update whose object or catalog is not as it was planned any more. Others are failures. */
const SKIPPING: readonly string[] = ['not_found', 'plan_outdated', 'update_held', 'no_template'];

/** Whether an item of a locked run has not begun, and the run has not failed too often meanwhile. */
async function canStart(transaction: Prisma.TransactionClient, runId: string, deploymentId: string): Promise<boolean> {
  if (!(await lockRun(transaction, runId))) return false;
  const rows = await transaction.$queryRaw<unknown[]>`
    SELECT FROM update_runs r JOIN update_run_items i ON i.run_id = r.id
    WHERE r.id = ${runId}::uuid AND r.state = 'running' AND i.deployment_id = ${deploymentId}::uuid AND i.state = 'waiting'
      AND (SELECT count(*) FROM update_run_items f WHERE f.run_id = r.id AND f.state = 'failed') < r.stop_after`;
  return rows.length > 0;
}

import { readWorkloadRevision } from '../../deployments/draft.ts';
import { type DeploymentRow, deployments } from '../../deployments/rows.ts';
import { beyondAutomatic, type Hold } from '../../deployments/updates/limits.ts';
import { digestOfUpgrade, upgradeOf } from '../../deployments/updates/upgrade.ts';
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
import { updateAsPlanned } from './apply.ts';
import { type AutomaticContext, attempt, EXAMINED_AGAIN, restoredSinceChange } from './begin.ts';

/** The deployments that are updated automatically. A part is upgraded with its application. */
export const automaticDeployments = {
  read: ({ database: { client } }: AutomaticContext, { after, limit }: { after: string; limit: number }) =>
    client.$queryRaw<unknown[]>`
      SELECT r.id, r.updates, now() AS now FROM deployments r
      WHERE ${isAutomatic} AND r.id > ${after}::uuid AND r.application_id IS NULL
        AND r.phase = 'running' AND r.desired_state = 'running' AND NOT r.deleting
        AND r.observed_generation = r.generation AND coalesce(r.rollout->>'state', '') NOT IN ('progressing', 'returning')
        AND ${hasAutomaticUpdate} AND coalesce((${automaticHold}->>'at')::timestamptz < now() - ${EXAMINED_AGAIN}, true)
      ORDER BY r.id LIMIT ${limit}`,
  update: updateDeployment,
};

async function updateDeployment(context: AutomaticContext, id: string): Promise<'full' | 'done'> {
  const ended = await attempt(context, async (transaction) => {
    await acquirePlacementLock(transaction); // before the row, as each change
    const row = await lockCandidate(transaction, id);
    if (!row) return undefined;
    const permitted = automaticKinds(row.updates.from ?? 'manual');
    const kinds = updateKinds(row).filter((kind) => permitted.includes(kind));
    const held = await holdOf(transaction, row, kinds);
    if (held) return held;
    const { defaultLimits } = context;
    const expected = await digestOfUpgrade(transaction, row, { defaultLimits, kinds });
    const updated = await updateAsPlanned(context, transaction, { id, expected, kinds, by: 'automatically' });
    const data = { automatic_generation: updated.generation, update_held: Prisma.DbNull };
    await transaction.deployment.update({ where: { id }, data });
    return updated;
  });
  if (typeof ended === 'string') return ended;
  await storeHold(context.database.client, id, ended);
  return 'done';
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
  const [last] = await transaction.$queryRaw<{ generation: number; is_restored: boolean; by_fleet: boolean }[]>`
    SELECT generation, operation = 'rollback' AS is_restored, created_by = 'fleet' AS by_fleet FROM deployment_revisions
    WHERE deployment_id = ${row.id}::uuid AND (created_by <> 'fleet' OR operation = 'rollback')
    ORDER BY generation DESC LIMIT 1`;
  const restored = restoredSinceChange(last);
  if (restored) return restored;
  const before = await readWorkloadRevision(transaction, row.workload_id, row.revision);
  const { workload } = await upgradeOf(transaction, row, kinds);
  return beyondAutomatic(before.spec, workload.spec);
}

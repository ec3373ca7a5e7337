import { refusePart } from '../../applications/apply.ts';
import { decideChange } from '../../applications/change.ts';
import { presentOrigin } from '../../applications/origin.ts';
import { type ApplicationRow, applications } from '../../applications/rows.ts';
import { storeChange } from '../../applications/store.ts';
import { beyondAutomaticUpgrade, missingInput } from '../../applications/updates/limits.ts';
import { upgradeTo } from '../../applications/updates/upgrade.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import { hasAutomaticUpgrade, isOutdatedCopy, storeUpgradeHold } from '../../resources/application-updates.ts';
import { readRow } from '../../resources/kind.ts';
import { acquirePlacementLock } from '../../resources/placement-lock.ts';
import { authoredByFleet } from './apply.ts';
import { type AutomaticContext, attempt, EXAMINED_AGAIN, restoredSinceChange } from './begin.ts';

/** An application `r` whose parts run its present generation, and that has an automatic upgrade. */
const canBeUpgraded = Prisma.sql`(r.good_generation = r.generation AND r.desired_state = 'running' AND NOT r.deleting
  AND NOT EXISTS (SELECT FROM deployments d WHERE d.application_id = r.id AND d.phase NOT IN ('running', 'stopped'))
  AND ${hasAutomaticUpgrade(EXAMINED_AGAIN)})`;

/** The applications that are upgraded automatically, each as a whole. */
export const automaticApplications = {
  read: ({ database: { client } }: AutomaticContext, { after, limit }: { after: string; limit: number }) =>
    client.$queryRaw<unknown[]>`
      SELECT r.id, r.updates, now() AS now FROM applications r
      WHERE r.id > ${after}::uuid AND ${isOutdatedCopy} AND ${canBeUpgraded} ORDER BY r.id LIMIT ${limit}`,
  update: upgradeApplication,
};

async function upgradeApplication(context: AutomaticContext, id: string): Promise<'full' | 'done'> {
  const ended = await attempt(context, async (transaction) => {
    await acquirePlacementLock(transaction); // before the row, as each change
    const row = await lockCandidate(transaction, id);
    if (!row) return undefined;
    const origin = await presentOrigin(transaction, row, []);
    const held = (await restored(transaction, row)) ?? missingInput(origin.spec, row.inputs);
    if (held) return held;
    const author = authoredByFleet(context, transaction);
    const change = await decideChange(author, row, upgradeTo(origin, { by: 'automatically' }));
    const beyond = beyondAutomaticUpgrade(change);
    if (beyond) return beyond;
    refusePart(change.decided.refusals);
    await storeChange(author, change);
    const data = { automatic_generation: row.generation + 1, update_held: Prisma.DbNull };
    await transaction.application.update({ where: { id }, data });
    return { path: `/api/v1/applications/${id}/upgrade`, objectName: row.name };
  });
  if (typeof ended === 'string') return ended;
  await storeUpgradeHold(context.database.client, id, ended);
  return 'done';
}

/** The application, locked; undefined if it must not be upgraded automatically any more. */
async function lockCandidate(transaction: Prisma.TransactionClient, id: string): Promise<ApplicationRow | undefined> {
  const [locked] = await transaction.$queryRaw<unknown[]>`
    SELECT FROM applications r WHERE r.id = ${id}::uuid AND ${canBeUpgraded} FOR UPDATE OF r SKIP LOCKED`;
  return locked ? readRow(transaction, applications, id) : undefined;
}

async function restored(transaction: Prisma.TransactionClient, { id }: ApplicationRow) {
  const [last] = await transaction.$queryRaw<{ generation: number; is_restored: boolean; by_fleet: boolean }[]>`
    SELECT generation, operation = 'rollback' AS is_restored, created_by = 'fleet' AS by_fleet FROM application_generations
    WHERE application_id = ${id}::uuid AND (created_by <> 'fleet' OR operation = 'rollback')
    ORDER BY generation DESC LIMIT 1`;
  return restoredSinceChange(last);
}

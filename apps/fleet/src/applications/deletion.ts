import type { DeploymentContext } from '../deployments/changes.ts';
import { decideAll, storeAll } from '../deployments/plans/several.ts';
import { authorOf } from '../identity/actor.ts';
import { refuseInUse } from '../resources/field-errors.ts';
import { nextVersion } from '../resources/kind.ts';
import { readParts, reverseWaits, storeWaits } from './parts.ts';
import type { ApplicationRow } from './rows.ts';
import { recordEvent } from './store.ts';

/**
 * Deletes an application under the placement lock: its parts in reverse order, and it with the last one. With `keepsVolumes`, no
 * volume is deleted. @returns the names of the volumes that stay. @throws 409 if others are bound to its parts
 */
export async function deleteApplication(
  context: DeploymentContext,
  row: ApplicationRow,
  { keepsVolumes }: { readonly keepsVolumes: boolean },
): Promise<string[]> {
  const { transaction, principal } = context;
  const parts = await readParts(transaction, row);
  const ids = parts.map((part) => part.row.id);
  const requests = parts
    .toReversed()
    .map((part) => ({ kind: 'deletion' as const, before: part.row, keepsWorkload: false }));
  const decided = await decideAll({ ...context, ofParts: true }, requests);
  refuseInUse(decided.flatMap((each) => (each.kind === 'deletion' ? each.dependents : [])));
  if (keepsVolumes)
    await transaction.volume.updateMany({
      where: { deployment_id: { in: ids }, reclaim: 'delete' },
      data: { reclaim: 'retain', ...nextVersion() },
    });
  const kept = await readKept(transaction, ids);
  if (!row.deleting) {
    await transaction.application.update({
      where: { id: row.id },
      data: { deleting: true, desired_state: 'stopped', ...nextVersion() },
    });
    const message = 'deletion requested';
    await recordEvent(transaction, {
      id: row.id,
      generation: row.generation,
      reason: 'delete',
      message,
      actor: authorOf(principal),
    });
    await storeWaits(transaction, reverseWaits(parts, 'gone'));
  }
  await storeAll(context, decided);
  return kept;
}

/** The names of the volumes of deployments that their deletion keeps. */
async function readKept(transaction: DeploymentContext['transaction'], ids: readonly string[]): Promise<string[]> {
  const rows = await transaction.$queryRaw<{ name: string }[]>`
    SELECT DISTINCT v.name FROM attachments a JOIN volumes v ON v.id = a.volume_id
    WHERE a.deployment_id = ANY (${[...ids]}::uuid[])
      AND (v.reclaim <> 'delete' OR v.deployment_id IS NULL OR v.deployment_id <> ALL (${[...ids]}::uuid[])
        OR EXISTS (SELECT FROM attachments o WHERE o.volume_id = v.id AND o.deployment_id <> ALL (${[...ids]}::uuid[])))
    ORDER BY v.name`;
  return rows.map(({ name }) => name);
}

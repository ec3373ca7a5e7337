import type { DeploymentContext } from '../deployments/changes.ts';
import { type Decided, decideAll, type PlanContext, storeAll } from '../deployments/plans/several.ts';
import { authorOf } from '../identity/actor.ts';
import { refuseInUse } from '../resources/field-errors.ts';
import { nextVersion } from '../resources/kind.ts';
import { readParts, reverseWaits, storeWaits } from './parts.ts';
import type { ApplicationRow } from './rows.ts';
import { recordEvent } from './store.ts';

/** A deletion of an application as it was decided. */
export interface DecidedDeletion {
  readonly row: ApplicationRow;
  /** The decisions about its parts, in the order in which they are deleted: those that need others first. */
  readonly parts: readonly Decided[];
}

/** Decides the deletion of an application without writing anything. */
export async function decideDeletion(context: PlanContext, row: ApplicationRow): Promise<DecidedDeletion> {
  const parts = await readParts(context.transaction, row);
  const requests = parts
    .toReversed()
    .map((part) => ({ kind: 'deletion' as const, before: part.row, keepsWorkload: false }));
  return { row, parts: await decideAll({ ...context, ofParts: true }, requests) };
}

/**
 * Deletes an application under the placement lock: its parts in reverse order, and it with the last one. With `keepsVolumes`, no
 * volume is deleted. @returns the names of the volumes that stay. @throws 409 if others are bound to its parts
 */
export async function deleteApplication(
  context: DeploymentContext & PlanContext,
  row: ApplicationRow,
  options: { readonly keepsVolumes: boolean },
): Promise<string[]> {
  const decided = await decideDeletion(context, row);
  refuseInUse(decided.parts.flatMap((each) => (each.kind === 'deletion' ? each.dependents : [])));
  return storeDeletion(context, decided, options);
}

/** Stores a deletion that was decided under the placement lock, and not refused. @returns the names of the volumes that stay */
export async function storeDeletion(
  context: DeploymentContext,
  { row, parts: decided }: DecidedDeletion,
  { keepsVolumes }: { readonly keepsVolumes: boolean },
): Promise<string[]> {
  const { transaction, principal } = context;
  const parts = await readParts(transaction, row);
  const ids = parts.map((part) => part.row.id);
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

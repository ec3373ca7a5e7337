import type { Dependent } from '../../resources/field-errors.ts';
import { nextVersion } from '../../resources/kind.ts';
import { readDependents } from '../bindings.ts';
import type { DecisionContext } from '../decision.ts';
import { type Author, DUE_NOW, recordGeneration } from '../generations.ts';
import { refuseManaged } from '../refusals.ts';
import type { DeploymentRow } from '../rows.ts';
import { removeDeployment } from '../store.ts';

/** A deletion as it was decided. */
export interface DecidedDeletion {
  readonly kind: 'deletion';
  readonly before: DeploymentRow;
  /** Whether the workload that the deployment created stays. */
  readonly keepsWorkload: boolean;
  /** The deployments that are bound to its generated values. It is refused if there are any. */
  readonly dependents: readonly Dependent[];
}

/** Decides a deletion without writing anything. @throws 409 for a part of an application */
export async function decideDeletion(
  { transaction, pending, ofParts }: Pick<DecisionContext, 'transaction' | 'pending' | 'ofParts'>,
  { before, keepsWorkload }: Pick<DecidedDeletion, 'before' | 'keepsWorkload'>,
): Promise<DecidedDeletion> {
  if (!ofParts) refuseManaged(before);
  const found = before.deleting ? [] : await readDependents(transaction, before, pending);
  const dependents = [...new Map(found.map(({ kind, name }) => [name, { kind, name }])).values()];
  return { kind: 'deletion', before, keepsWorkload, dependents };
}

/**
 * Stores a deletion that was decided under the placement lock, and not refused: deletes the rows at once if no engine has received it, otherwise after the engine
 * has removed its objects. @returns whether the rows were deleted
 */
export async function storeDeletion(
  context: Author,
  { before: { id, sent_to_engine, deleting }, keepsWorkload }: DecidedDeletion,
): Promise<boolean> {
  const { transaction } = context;
  if (keepsWorkload) await transaction.deployment.update({ where: { id }, data: { deletes_workload: false } });
  if (!sent_to_engine) {
    await removeDeployment(transaction, id);
    return true;
  }
  if (deleting) return false;
  const state = { deleting: true, desired_state: 'stopped' as const, phase: 'deleting', reason: null, message: '' };
  await transaction.deployment.update({
    where: { id },
    data: { ...state, ...DUE_NOW, generation: { increment: 1 }, ...nextVersion() },
  });
  await recordGeneration(context, { id, operation: 'delete', message: 'deletion requested' });
  return false;
}

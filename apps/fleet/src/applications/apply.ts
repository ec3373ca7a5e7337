import type { GeneratedValue } from '@svc/contract/fleet';
import type { DeploymentContext } from '../deployments/changes.ts';
import type { PlanContext } from '../deployments/plans/several.ts';
import { refuse } from '../deployments/refusals.ts';
import { type ApplicationChange, decideChange } from './change.ts';
import type { PartRefusal } from './decision/decide.ts';
import type { ApplicationRow } from './rows.ts';
import { storeChange } from './store.ts';

/**
 * Changes an application under the placement lock, as one generation. @returns the values that the change generated. @throws as
 * `decideChange`, and 422
 */
export async function changeApplication(
  context: DeploymentContext & PlanContext,
  row: ApplicationRow,
  change: ApplicationChange,
): Promise<GeneratedValue[]> {
  const decided = await decideChange(context, row, change);
  refusePart(decided.decided.refusals);
  return storeChange(context, decided);
}

/** @throws 422 with all refusals if there are any, by part; 409 if all are `name_taken` */
export const refusePart = (refusals: readonly PartRefusal[]): void => refuse(refusalsByPart(refusals));

/** Refusals with the parts in their paths. */
export const refusalsByPart = <T extends Pick<PartRefusal, 'part' | 'path'>>(
  refusals: readonly T[],
): (Omit<T, 'part' | 'path'> & { path: string })[] =>
  refusals.map(({ part, path, ...refusal }) => ({
    ...refusal,
    path: part === null ? path : `parts.${part}.${path}`,
  }));

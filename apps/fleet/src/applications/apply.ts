import type { GeneratedValue } from '@svc/contract/fleet';
import type { DeploymentContext } from '../deployments/changes.ts';
import type { PlanContext } from '../deployments/plans/several.ts';
import { type ApplicationChange, decideChange } from './change.ts';
import { refusePart } from './refusals.ts';
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

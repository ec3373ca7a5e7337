import { type FleetOutput, fleet } from '../../api.ts';
import { usePlanOf } from '../../deployments/usePlan.ts';
import { useTargetName } from '../../deployments/useTargets.ts';
import type { ApplicationBody } from './application-draft.ts';

export type ApplicationPlan = FleetOutput<'planApplication'>;

/** The members of the request that have a field. */
export const applicationFields: readonly string[] = ['name', 'target', 'inputs', 'volumes', 'updates'];

/** The plan of a new application, and the name of the target that it has chosen. */
export function useApplicationPlan(body: ApplicationBody) {
  const plan = usePlanOf('application', {
    body,
    repeats: true,
    request: (settled, signal) => fleet.call('planApplication', { body: JSON.parse(settled), signal }),
  });
  return { ...plan, targetName: useTargetName(plan.data?.placement.target)?.name };
}

import type { Reply } from '@svc/contract';
import type { fleetEndpoints } from '@svc/contract/fleet';
import { readApplication } from '../applications/rows.ts';
import { CHANGED, isFinal, isObserved, type Wait, type WaitContext, type Wanted, waitUntil } from './wait.ts';

type Application = Reply<typeof fleetEndpoints.getApplication>['application'];

/**
 * An application, when it has one of the phases or cannot reach them by itself, or after a time. Its phase is that of its parts, so
 * that changes of these are awaited; the end of its generation is found in regular intervals. @throws as `waitUntil`
 */
export const waitForApplication = (context: WaitContext, { id, phases, seconds }: Wait): Promise<Application> =>
  waitUntil(context, {
    filter: { kinds: ['deployments'], id: undefined },
    seconds,
    read: () => readApplication(context.database.client, id),
    isDecided: (application) => phases.length === 0 || isApplicationDecided(application, phases),
    after: (change) => {
      if (change.kind !== 'deployments') return undefined;
      const isPart = change.object === null || change.object.application?.id === id;
      return isPart ? CHANGED : undefined;
    },
    isReadRegularly: true,
  });

/** Whether an application has one of the phases, or a final one, in its current generation. */
function isApplicationDecided({ phase, outcome, parts }: Application, phases: Wanted): boolean {
  if (!parts.every(isObserved)) return false;
  if (phases.includes(phase)) return true;
  // The fleet can return from a failure until the generation has ended; then a person decides.
  if (outcome === 'failed') return phase !== 'deleting' || !phases.includes('deleted');
  return isFinal(phase, phases) && (phase !== 'failed' || outcome !== null);
}

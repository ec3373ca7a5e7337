import { hubEndpoints } from '@svc/contract/hub';
import { planVisibility as plan } from '../../../catalog/plan.ts';
import { callerOf } from '../../../identity/caller.ts';
import { route } from '../../request/context.ts';

/** The plan waits in the queue of expensive reads. */
export const planVisibility = route(
  hubEndpoints.planVisibility,
  async ({ database: { reader }, changeQueue, principal }, { body }) =>
    changeQueue.run(callerOf(principal).id, () => reader.inSnapshot((snapshot) => plan(snapshot, body))),
);

import type { Input, Reply } from '@svc/contract';
import { fleetEndpoints } from '@svc/contract/fleet';
import { Problem } from '@svc/http';
import type { Prisma } from '../generated/prisma/client.ts';
import { closed, PlanOutdated } from '../plans/apply.ts';
import { readDocuments } from '../plans/documents.ts';
import { reviewPlan } from '../plans/review.ts';
import { readPlan, readPlans } from '../plans/rows.ts';
import { continueSource } from '../plans/sources/rows.ts';
import { applyStored, decideFiles, planAgain, storePlan } from './plans/making.ts';
import { changeRoute, runAudited } from './request/change.ts';
import { type RequestContext, route } from './request/context.ts';

export const createPlan = route(fleetEndpoints.createPlan, async (context, { body }) => {
  const { files, title, ...options } = body;
  const documents = await readDocuments(files);
  const decided = await decideFiles(context, documents, options);
  return runAudited(context, fleetEndpoints.createPlan, async (transaction) => {
    context.recording.objectName = title === '' ? options.set : title;
    const id = await storePlan(context, transaction, { files, title, options, ...decided });
    return { plan: await readPlan(transaction, id) };
  });
});

export const listPlans = route(fleetEndpoints.listPlans, ({ database }, { query }) =>
  readPlans(database.client, query),
);

export const getPlan = route(fleetEndpoints.getPlan, async ({ database }, { params }) => ({
  plan: await readPlan(database.client, params.id),
}));

export const approvePlan = changeRoute(
  fleetEndpoints.approvePlan,
  async ({ transaction, principal, recording }, { params, body }) => {
    await reviewPlan(transaction, principal, { ...params, ...body, decision: 'approved' });
    return reviewed(transaction, recording, params.id);
  },
);

export const rejectPlan = changeRoute(
  fleetEndpoints.rejectPlan,
  async ({ transaction, principal, recording }, { params, body }) => {
    await reviewPlan(transaction, principal, { ...params, ...body, decision: 'rejected' });
    return reviewed(transaction, recording, params.id);
  },
);

async function reviewed(transaction: Prisma.TransactionClient, recording: RequestContext['recording'], id: string) {
  const plan = await readPlan(transaction, id);
  await continueSource(transaction, id);
  recording.objectName = plan.title === '' ? plan.set : plan.title;
  return { plan };
}

type ApplyReply = Reply<typeof fleetEndpoints.applyPlan>;

/** A repeated request finds that the plan was applied, and generates no values. */
export const applyPlan = route(fleetEndpoints.applyPlan, async (context, { params, body }): Promise<ApplyReply> => {
  const plan = await readPlan(context.database.client, params.id);
  refuseOther(plan, body);
  if (plan.state === 'applied') return { plan, generated: [] };
  return applyStored(context, plan).catch(async (error: unknown) => {
    if (!(error instanceof PlanOutdated)) throw error;
    throw outdated(error, await planAgain(context, plan));
  });
});

function outdated({ objects }: PlanOutdated, id: string): Problem {
  const detail = `Nothing was changed: what the plan was decided about has changed. The plan ${id} states what would happen now.`;
  const errors = objects.map((path) => ({ path, message: 'would change in another way than the plan states' }));
  return new Problem('plan_outdated', detail, { errors });
}

const APPLICABLE: readonly ApplyReply['plan']['state'][] = ['ready', 'needs_approval', 'unchanged', 'applied'];

/** @throws 409 */
function refuseOther(plan: ApplyReply['plan'], { digest }: Input<typeof fleetEndpoints.applyPlan>['body']): void {
  if (plan.digest !== digest) {
    const detail = `Nothing was changed: the digest is not that of the plan ${plan.id}. Review the plan again.`;
    throw new Problem('plan_outdated', detail);
  }
  if (APPLICABLE.includes(plan.state)) return;
  throw closed(plan);
}

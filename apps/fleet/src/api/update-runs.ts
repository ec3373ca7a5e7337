import { fleetEndpoints, type LabelRequirement } from '@svc/contract/fleet';
import { Problem, pickDefined } from '@svc/http';
import { plannedUpgrade } from '../applications/updates/planned.ts';
import { planRun } from '../deployments/update-runs/plan.ts';
import { endRun, insertRun, readRun, readRuns } from '../deployments/update-runs/runs.ts';
import { authorOf } from '../identity/actor.ts';
import { creatorOf } from '../identity/authority.ts';
import { callerKey } from '../identity/principal.ts';
import { planUpgrade } from './deployments/plan.ts';
import { changeRoute, runAudited } from './request/change.ts';
import { type RequestContext, route } from './request/context.ts';

const planContextOf = ({ database, candidates, defaultLimits, planQueue, principal }: RequestContext) => ({
  database,
  candidates,
  defaultLimits,
  planUpgrade,
  planApplication: plannedUpgrade,
  planQueue,
  caller: callerKey(principal),
});

export const planUpdateRun = route(fleetEndpoints.planUpdateRun, async (context, { body }) => ({
  plan: await planRun(planContextOf(context), body),
}));

/** An update whose deployment or application changes after the plan is skipped when it is its turn. */
export const createUpdateRun = route(fleetEndpoints.createUpdateRun, async (context, { body }) => {
  const { expected, wave, stop_after: stopAfter, label, ...given } = body;
  const plan = await planRun(planContextOf(context), body);
  if (expected !== undefined && expected !== plan.digest) {
    const detail =
      'Nothing was started: a deployment, an application or the catalog has changed since the plan was made. Make a new plan.';
    throw new Problem('plan_outdated', detail);
  }
  const selection = {
    ...(label && { label: selectorOf(label) }),
    ...pickDefined(given, ['template', 'application', 'deployment_ids', 'application_ids']),
  };
  return runAudited(context, fleetEndpoints.createUpdateRun, async (transaction) => {
    const creator = await creatorOf(transaction, context.principal);
    return {
      run: await readRun(transaction, await insertRun(transaction, { creator, selection, wave, stopAfter, plan })),
    };
  });
});

const selectorOf = (requirements: readonly LabelRequirement[]): string =>
  requirements.map(({ key, value }) => (value === undefined ? key : `${key}=${value}`)).join(',');

export const listUpdateRuns = route(fleetEndpoints.listUpdateRuns, ({ database }, { query }) =>
  readRuns(database.client, query),
);

export const getUpdateRun = route(fleetEndpoints.getUpdateRun, async ({ database }, { params }) => ({
  run: await readRun(database.client, params.id),
}));

export const cancelUpdateRun = changeRoute(
  fleetEndpoints.cancelUpdateRun,
  async ({ transaction, principal }, { params }) => {
    const { id } = await readRun(transaction, params.id);
    await endRun(transaction, id, { state: 'cancelled', message: `The run was cancelled by ${authorOf(principal)}.` });
    return { run: await readRun(transaction, id) };
  },
);

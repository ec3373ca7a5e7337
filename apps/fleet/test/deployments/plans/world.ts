import { createCandidates } from '../../../src/deployments/candidates.ts';
import {
  type Decided,
  decideAll,
  inPlan,
  isRefused,
  type PlanContext,
  type Requested,
  storeAll,
} from '../../../src/deployments/plans/several.ts';
import type { Prisma } from '../../../src/generated/prisma/client.ts';
import { THE_FLEET } from '../../../src/identity/principal.ts';
import { acquirePlacementLock } from '../../../src/resources/placement-lock.ts';
import type { DeploymentWorld } from '../world.ts';

type NewDeployment = Extract<Requested, { kind: 'creation' }>['request'];

/** A request for a new deployment with the defaults of the API. */
export const creation = (given: Partial<NewDeployment> & { readonly name: string }): Requested => ({
  kind: 'creation',
  request: {
    ...{ target: null, replicas: 1, autoscaling: null, scaled_by: 'fleet', env: {}, volumes: {}, pull: 'auto' },
    desired_state: 'running',
    ...given,
  },
});

/** The requests can depend on what their transaction reads. */
type Requests = (context: Pick<PlanContext, 'transaction'>) => Promise<readonly Requested[]>;

/** Makes plans of several deployments, and applies them. */
export function plansIn({ world: { database, services, sealer } }: DeploymentWorld, candidates = createCandidates()) {
  const { defaultLimits } = services;
  return {
    candidates,
    /** Decides in a transaction that accepts no write. */
    plan: (requests: Requests): Promise<Decided[]> =>
      inPlan({ database, candidates, defaultLimits }, async (context) => decideAll(context, await requests(context))),
    /** Decides under the placement lock, and stores what is not refused. */
    apply: (requests: Requests): Promise<Decided[]> =>
      database.client.$transaction(async (transaction: Prisma.TransactionClient) => {
        const context = { transaction, candidates, defaultLimits };
        await acquirePlacementLock(transaction);
        const decided = await decideAll(context, await requests(context));
        const author = { principal: THE_FLEET, settings: { sealer }, ifMatch: () => () => true };
        await storeAll(
          { ...context, ...author },
          decided.filter((each) => !isRefused(each)),
        );
        return decided;
      }),
  };
}

/** The reasons of a refusal, as the API states them. */
export const reasonsOf = (decided: Decided) =>
  decided.kind === 'deletion'
    ? decided.dependents.map(({ kind, name }) => ({ path: kind, message: name }))
    : decided.refusals.map(({ path, message }) => ({ path, message }));

/** The target that a decision chooses, and its GPUs there. */
export function choiceOf(decided: Decided | undefined) {
  if (!decided || decided.kind === 'deletion' || !decided.decision) return undefined;
  const { chosen, draft } = decided.decision;
  return { target: chosen?.id ?? draft.target?.id, gpus: chosen?.gpus.flat().toSorted() };
}

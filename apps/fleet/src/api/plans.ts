import type { Input, Reply } from '@svc/contract';
import { fleetEndpoints } from '@svc/contract/fleet';
import { Problem } from '@svc/http';
import { inPlan } from '../deployments/plans/several.ts';
import { NO_OUTAGE } from '../deployments/updates/outage.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { creatorOf } from '../identity/authority.ts';
import { callerKey } from '../identity/principal.ts';
import { applyPlan as apply, closed, PlanOutdated } from '../plans/apply.ts';
import { type DecidedObject, decidePlan, describePlan, type PlanContent, type Shown } from '../plans/decide.ts';
import { type PlacedDocument, type PlanFile, readDocuments } from '../plans/documents.ts';
import { approvalFor, reviewPlan } from '../plans/review.ts';
import { insertPlan, readFiles, readPlan, readPlans, recordOutdated } from '../plans/rows.ts';
import type { PlanOptions } from '../plans/step.ts';
import { awaitFirstChecksOfParts, presentApplication } from './applications/planned.ts';
import { presentDecided } from './deployments/plan.ts';
import { awaitFirstChecks } from './deployments.ts';
import { aloneInPlacementQueue, changeRoute, runAudited } from './request/change.ts';
import { type RequestContext, route } from './request/context.ts';

/** The longest time of the decisions about all documents. They hold no lock. */
const DECISION_MS = 30_000;

/** The longest time in which a plan is applied. Other changes of deployments wait for it. */
const APPLICATION_MS = 15_000;

export const createPlan = route(fleetEndpoints.createPlan, async (context, { body }) => {
  const { files, title, ...options } = body;
  const documents = await readDocuments(files);
  const decided = await decide(context, documents, options);
  return runAudited(context, fleetEndpoints.createPlan, async (transaction) => {
    context.recording.objectName = title === '' ? options.set : title;
    const id = await store(context, transaction, { files, title, options, ...decided });
    return { plan: await readPlan(transaction, id) };
  });
});

/** A decision with what it states. */
interface DecidedPlan {
  readonly content: PlanContent;
  readonly digest: string;
}

/** Decides in a transaction that accepts no write, and waits for no lock. */
const decide = (
  context: RequestContext,
  documents: readonly PlacedDocument[],
  options: PlanOptions,
): Promise<DecidedPlan> => {
  const { database, candidates, defaultLimits, principal, engineRuntime, planQueue } = context;
  return engineRuntime.afterFirstChecks((canWait) =>
    planQueue.run(callerKey(principal), () =>
      inPlan(
        { database, candidates, defaultLimits, principal },
        async (planning) => {
          const decision = await decidePlan(planning, documents, options, (decided) => {
            if (canWait) awaitChecksOf(decided);
          });
          const content = await describePlan(
            decision,
            (decided) => presentObject(planning.transaction, decided),
            NOTHING,
          );
          return { content, digest: decision.digest };
        },
        { timeout: DECISION_MS },
      ),
    ),
  );
};

/** @throws UncheckedTargets if a creation can become possible with the first check of a target */
function awaitChecksOf(one: DecidedObject): void {
  if (one.decided.kind !== 'creation') return;
  if (one.kind === 'application') awaitFirstChecksOfParts(one.decided.decided);
  else awaitFirstChecks(one.decided.decision);
}

/** What a plan shows of a creation or a change. */
async function presentObject(transaction: Prisma.TransactionClient, one: DecidedObject): Promise<Shown> {
  const { kind, decided } = one;
  if (kind === 'application') return decided.kind === 'deletion' ? NOTHING : presentApplication(transaction, decided);
  return decided.kind === 'deletion' ? NOTHING : presentDecided(transaction, decided);
}

/** What a plan shows of a refused change, and of a deletion. */
const NOTHING: Shown = { values: [], target: null, replaces_instances: false, outage: NO_OUTAGE };

interface NewPlan extends DecidedPlan {
  readonly files: readonly PlanFile[];
  readonly title: string;
  readonly options: PlanOptions;
}

const store = async (
  { principal }: RequestContext,
  transaction: Prisma.TransactionClient,
  plan: NewPlan,
): Promise<string> =>
  insertPlan(transaction, {
    creator: await creatorOf(transaction, principal),
    approval: await approvalFor(transaction, principal),
    ...plan,
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
  recording.objectName = plan.title === '' ? plan.set : plan.title;
  return { plan };
}

type ApplyReply = Reply<typeof fleetEndpoints.applyPlan>;

/** A repeated request finds that the plan was applied, and generates no values. */
export const applyPlan = route(fleetEndpoints.applyPlan, async (context, { params, body }): Promise<ApplyReply> => {
  const { client } = context.database;
  const plan = await readPlan(client, params.id);
  refuseOther(plan, body);
  if (plan.state === 'applied') return { plan, generated: [] };
  const files = await readFiles(client, plan.id);
  const documents = await readDocuments(files);
  const { set, prune, max_deletions, adopt, title } = plan;
  const options = { set, prune, max_deletions, adopt };
  try {
    return await aloneInPlacementQueue(context, () =>
      runAudited(
        context,
        fleetEndpoints.applyPlan,
        async (transaction) => {
          context.recording.objectName = title === '' ? set : title;
          const generated = await apply(
            { ...context, transaction, ifMatch: () => () => true },
            { id: plan.id, options, documents },
          );
          return { plan: await readPlan(transaction, plan.id), generated: generated ?? [] };
        },
        APPLICATION_MS,
      ),
    );
  } catch (error) {
    if (!(error instanceof PlanOutdated)) throw error;
    const decided = await decide(context, documents, options);
    const id = await client.$transaction(async (transaction) => {
      await recordOutdated(transaction, plan.id);
      return store(context, transaction, { files, title, options, ...decided });
    });
    throw outdated(error, id);
  }
});

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

function outdated({ objects }: PlanOutdated, id: string): Problem {
  const detail = `Nothing was changed: what the plan was decided about has changed. The plan ${id} states what would happen now.`;
  const errors = objects.map((path) => ({ path, message: 'would change in another way than the plan states' }));
  return new Problem('plan_outdated', detail, { errors });
}

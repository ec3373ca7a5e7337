import type { Reply } from '@svc/contract';
import { fleetEndpoints } from '@svc/contract/fleet';
import { inPlan } from '../../deployments/plans/several.ts';
import { NO_OUTAGE } from '../../deployments/updates/outage.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { creatorOf } from '../../identity/authority.ts';
import { callerKey, type Principal, type SourcePrincipal } from '../../identity/principal.ts';
import { applyPlan } from '../../plans/apply.ts';
import { type DecidedObject, decidePlan, describePlan, type PlanContent, type Shown } from '../../plans/decide.ts';
import { type PlacedDocument, type PlanFile, readDocuments } from '../../plans/documents.ts';
import { approvalFor } from '../../plans/review.ts';
import { insertPlan, type NewPlan, readFiles, readOrigin, readPlan, recordOutdated } from '../../plans/rows.ts';
import { continueSource } from '../../plans/sources/rows.ts';
import type { PlanOptions } from '../../plans/step.ts';
import { awaitFirstChecksOfParts, presentApplication } from '../applications/planned.ts';
import { presentDecided } from '../deployments/plan.ts';
import { awaitFirstChecks } from '../deployments.ts';
import { aloneInPlacementQueue, runAudited } from '../request/change.ts';
import type { RequestContext } from '../request/context.ts';

/** The longest time of the decisions about all documents. They hold no lock. */
const DECISION_MS = 30_000;

/** The longest time in which a plan is applied. Other changes of deployments wait for it. */
const APPLICATION_MS = 15_000;

type Plan = Awaited<ReturnType<typeof readPlan>>;

/** What plans are made and applied with: the context of a request, or that of a source. */
export type PlanMaking = Pick<
  RequestContext,
  | 'database'
  | 'candidates'
  | 'defaultLimits'
  | 'servicePort'
  | 'settings'
  | 'engineRuntime'
  | 'planQueue'
  | 'applicationQueue'
  | 'placementQueue'
  | 'recording'
> & { readonly principal: Principal | SourcePrincipal };

/** A decision with what it states. */
export interface DecidedPlan {
  readonly content: PlanContent;
  readonly digest: string;
}

/** Decides in a transaction that accepts no write, and waits for no lock. */
export const decideFiles = (
  context: Omit<PlanMaking, 'recording'>,
  documents: readonly PlacedDocument[],
  options: PlanOptions,
): Promise<DecidedPlan> => {
  const { database, candidates, defaultLimits, servicePort, principal, engineRuntime, planQueue } = context;
  return engineRuntime.afterFirstChecks((canWait) =>
    planQueue.run(callerKey(principal), () =>
      inPlan(
        { database, candidates, defaultLimits, servicePort, principal },
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

export interface FilesPlan extends DecidedPlan, Pick<NewPlan, 'read'> {
  readonly files: readonly PlanFile[];
  readonly title: string;
  readonly options: PlanOptions;
  /** Needs the approval of a person, whatever the settings say. */
  readonly isHeld?: boolean;
}

/** Stores a plan. @returns its id. @throws 409 if too many plans are ready */
export const storePlan = async (
  { principal }: Pick<PlanMaking, 'principal'>,
  transaction: Prisma.TransactionClient,
  { isHeld = false, ...plan }: FilesPlan,
): Promise<string> =>
  insertPlan(transaction, {
    creator: await creatorOf(transaction, principal),
    approval: isHeld ? 'all' : await approvalFor(transaction, principal),
    ...plan,
  });

const optionsOf = ({ set, prune, max_deletions, adopt, drift }: Plan): PlanOptions => ({
  set,
  prune,
  max_deletions,
  adopt,
  ...(drift === undefined ? {} : { drift }),
});

/**
 * Decides again and applies a plan, whose state the caller has examined.
 * @throws PlanOutdated if the decision is another one
 */
export async function applyStored(context: PlanMaking, plan: Plan): Promise<Reply<typeof fleetEndpoints.applyPlan>> {
  const { id, set, title } = plan;
  const documents = await readDocuments(await readFiles(context.database.client, id));
  return aloneInPlacementQueue(context, () =>
    runAudited(
      context,
      fleetEndpoints.applyPlan,
      async (transaction) => {
        context.recording.objectName = title === '' ? set : title;
        const generated = await applyPlan(
          { ...context, transaction, ifMatch: () => () => true },
          { id, options: optionsOf(plan), documents },
        );
        await continueSource(transaction, id);
        return { plan: await readPlan(transaction, id), generated: generated ?? [] };
      },
      APPLICATION_MS,
    ),
  );
}

/** Replaces a plan that is outdated by one of the same files. One that had to be approved has to be approved again. @returns its id */
export async function planAgain(context: PlanMaking, plan: Plan): Promise<string> {
  const { client } = context.database;
  const { id, title, source_id: source, commit } = plan;
  const files = await readFiles(client, id);
  const options = optionsOf(plan);
  const decided = await decideFiles(context, await readDocuments(files), options);
  const read = source !== null && commit !== null ? { source, commit } : undefined;
  return client.$transaction(async (transaction) => {
    const { needs_approval: isHeld } = await readOrigin(transaction, id);
    await recordOutdated(transaction, id);
    return storePlan(context, transaction, { files, title, options, read, isHeld, ...decided });
  });
}

import type { Reply } from '@svc/contract';
import type { fleetEndpoints, GeneratedValue } from '@svc/contract/fleet';
import { Problem } from '@svc/http';
import { storeDeletion } from '../applications/deletion.ts';
import { storeApplication, storeChange as storeApplicationChange } from '../applications/store.ts';
import type { DeploymentContext } from '../deployments/changes.ts';
import { changedIds, type Decided, type PlanContext, storeAll } from '../deployments/plans/several.ts';
import { authorOf } from '../identity/actor.ts';
import { nextVersion } from '../resources/kind.ts';
import { acquirePlacementLock } from '../resources/placement-lock.ts';
import { type DecidedObject, decidePlan, deploymentsOf, type PlanDecision } from './decide.ts';
import { keyOf, type PlacedDocument } from './documents.ts';
import { requireApproval } from './review.ts';
import { lockPlan, readPlan, recordApplied } from './rows.ts';
import type { PlanOptions } from './step.ts';
import { releaseObjects, storeApplied } from './stored.ts';

type Generated = Reply<typeof fleetEndpoints.applyPlan>['generated'];

/** The problem of a plan that can no longer be applied. */
export const closed = ({ state }: Pick<Awaited<ReturnType<typeof readPlan>>, 'state'>): Problem =>
  new Problem('plan_closed', `Nothing was changed: the plan is ${state}. Make a new plan.`);

/** What was decided is no longer what a plan states. */
export class PlanOutdated extends Error {
  override name = 'PlanOutdated';
  /** The objects about which the decision is another one, as `<kind> <name>`. */
  readonly objects: readonly string[];

  constructor(objects: readonly string[]) {
    super('the plan is outdated');
    this.objects = objects;
  }
}

interface Application {
  readonly id: string;
  readonly options: PlanOptions;
  readonly documents: readonly PlacedDocument[];
}

/**
 * Decides again under the placement lock, and stores everything if the decision is the same.
 * @returns the values that were generated; undefined if the plan was applied before
 * @throws PlanOutdated
 */
export async function applyPlan(
  context: PlanContext & DeploymentContext,
  { id, options, documents }: Application,
): Promise<Generated | undefined> {
  const { transaction, principal } = context;
  await acquirePlacementLock(transaction);
  await lockPlan(transaction, id);
  const plan = await readPlan(transaction, id);
  if (plan.state === 'applied') return undefined;
  if (plan.state === 'rejected') throw closed(plan);
  await requireApproval(transaction, plan, principal);
  const decision = await decidePlan(context, documents, options);
  const isRefusedNow = decision.steps.some(({ refusals }) => refusals.length > 0);
  if (decision.digest !== plan.digest || isRefusedNow) throw new PlanOutdated(differing(plan.parts, decision.parts));
  const generated = await store(context, decision);
  const kept = new Set(decision.kept);
  const applied = documents.filter(({ document }) => !kept.has(keyOf(document)));
  await storeApplied(transaction, { set: options.set, planId: id, documents: applied });
  await recordApplied(transaction, { id, author: authorOf(principal) });
  return generated;
}

const differing = (before: PlanDecision['parts'], now: PlanDecision['parts']): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(now)])].filter((key) => before[key] !== now[key]).sort();

/** Stores the decisions of a plan, which are not refused. */
async function store(context: DeploymentContext, { steps }: PlanDecision): Promise<Generated> {
  const { transaction } = context;
  const removed = steps.filter(({ step }) => step.action === 'delete' || step.action === 'release');
  const keepsData = removed.flatMap(({ step }) => (step.deletesData ? [] : step.removed.map(({ id }) => id)));
  const retained = { deployment_id: { in: keepsData }, reclaim: 'delete' as const };
  if (keepsData.length > 0)
    await transaction.volume.updateMany({ where: retained, data: { reclaim: 'retain', ...nextVersion() } });
  const decided = steps.flatMap(({ step, decided: each }) => (each ? [{ name: step.name, ...each }] : []));
  const generated = await storeObjects(
    { ...context, alsoChanged: new Set(decided.flatMap((each) => changedIds(deploymentsOf(each)))) },
    decided,
  );
  await releaseObjects(
    transaction,
    removed.flatMap(({ step }) => step.id ?? []),
  );
  return generated;
}

type Named = DecidedObject & { readonly name: string };

/** Stores decisions in their order. Those about deployments that follow each other are stored together. */
async function storeObjects(context: DeploymentContext, all: readonly Named[]): Promise<Generated> {
  const generated: Generated = [];
  let together: { readonly name: string; readonly decided: Decided }[] = [];
  const add = (name: string, values: readonly GeneratedValue[]) =>
    generated.push(...values.map((value) => ({ deployment: name, name: value.name, value: value.value })));
  const storeTogether = async () => {
    const stored = await storeAll(
      context,
      together.map(({ decided }) => decided),
    );
    for (const [index, values] of stored.entries()) add(together[index]?.name ?? '', values);
    together = [];
  };
  for (const each of all) {
    if (each.kind === 'deployment') {
      together.push({ name: each.name, decided: each.decided });
      continue;
    }
    await storeTogether();
    add(each.name, await storeOneApplication(context, each.decided));
  }
  await storeTogether();
  return generated;
}

async function storeOneApplication(
  context: DeploymentContext,
  one: Extract<DecidedObject, { readonly kind: 'application' }>['decided'],
): Promise<readonly GeneratedValue[]> {
  if (one.kind === 'creation') {
    const { generated } = await storeApplication(context, one.decided, { onFailure: one.onFailure, values: {} });
    return generated;
  }
  if (one.kind === 'change') return storeApplicationChange(context, one);
  await storeDeletion(context, one, { keepsVolumes: false }); // those that stay are retained already
  return [];
}

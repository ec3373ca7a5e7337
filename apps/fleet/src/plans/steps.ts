import { isDeepStrictEqual } from 'node:util';
import { type ApplicationDocument, type DeploymentDocument, planLimits } from '@svc/contract/fleet';
import { invalid } from '@svc/http';
import type { Prisma } from '../generated/prisma/client.ts';
import { keyOf, type PlacedDocument } from './documents.ts';
import { type Names, readNames } from './names.ts';
import { applicationChanges, applicationCreation, applicationRemovals } from './objects/applications.ts';
import { deploymentChanges, deploymentCreation, deploymentRemovals } from './objects/deployments.ts';
import { inOrder } from './order.ts';
import { portionsOf } from './portions.ts';
import { type Existing, type PlanOptions, type Step, stepOf } from './step.ts';
import { type ManagedObject, readManaged, readRolledBack } from './stored.ts';

type Transaction = Prisma.TransactionClient;

export interface Steps {
  /** In the order in which they are decided. */
  readonly steps: readonly Step[];
  readonly unchanged: number;
  /** The documents whose objects were changed by hand, and stay so. */
  readonly kept: readonly string[];
  /** The objects of the set that no document describes, and that stay. */
  readonly leftOut: readonly ManagedObject[];
}

/**
 * Determines what documents change. @throws 400 for more changes than a plan can have
 */
export async function readSteps(
  transaction: Transaction,
  documents: readonly PlacedDocument[],
  options: PlanOptions,
): Promise<Steps> {
  const names = documents.map(({ document }) => document.name);
  const managed = await readManaged(transaction, { set: options.set, names });
  const byKey = new Map(managed.map((object) => [keyOf(object), object]));
  const pairs = documents.map((placed) => ({ placed, object: byKey.get(keyOf(placed.document)) }));
  const different = pairs.filter((pair) => !isAsApplied(pair, options));
  refuseTooManyChanges(different.filter(({ object }) => object === undefined).length);
  const all = await compareAll(transaction, different, options);
  const kept = await keptOf(transaction, all, options);
  const compared = all.filter((step) => !kept.has(keyOf(step)));
  const described = new Set(documents.map(({ document }) => keyOf(document)));
  const gone = managed.filter((object) => object.set_name === options.set && !described.has(keyOf(object)));
  const removals = options.prune ? await removalsOf(transaction, gone) : [];
  const steps = [...inPlanOrder(compared), ...removals];
  refuseTooMany(steps, options);
  return {
    steps,
    unchanged: documents.length - all.length,
    kept: [...kept],
    leftOut: options.prune ? [] : gone,
  };
}

/** The steps that would revert what was changed by hand, and are not made. */
async function keptOf(
  transaction: Transaction,
  steps: readonly Step[],
  { drift }: PlanOptions,
): Promise<ReadonlySet<string>> {
  if (drift === undefined) return new Set();
  const drifted = steps.filter(({ cause }) => cause === 'drift');
  if (drift === 'keep') return new Set(drifted.map(keyOf));
  const rolledBack = await readRolledBack(
    transaction,
    drifted.flatMap(({ id }) => id ?? []),
  );
  return new Set(drifted.filter(({ id }) => id !== null && rolledBack.has(id)).map(keyOf));
}

/** @throws 400 */
function refuseTooManyChanges(count: number): void {
  const { changes } = planLimits;
  if (count <= changes) return;
  const message = `describe ${count} changes, and a plan can have at most ${changes}. Divide the files into several sets`;
  throw invalid([{ path: 'files', message }]);
}

/** @throws 400 */
function refuseTooMany(steps: readonly Step[], { max_deletions }: PlanOptions): void {
  refuseTooManyChanges(steps.length);
  const deletions = steps.filter(({ action }) => action === 'delete').length;
  if (deletions <= max_deletions) return;
  const message = `must be at least ${deletions} to delete as many objects. Check which documents are missing first`;
  throw invalid([{ path: 'max_deletions', message }]);
}

/** A document with the object that it describes; undefined: it does not exist. */
interface Pair {
  readonly placed: PlacedDocument;
  readonly object: ManagedObject | undefined;
}

/** Whether an object is as its document was applied, and the document is the same. */
const isAsApplied = ({ placed, object }: Pair, { set }: PlanOptions): boolean =>
  object !== undefined &&
  object.set_name === set &&
  !object.deleting &&
  object.applied_version === object.version &&
  isDeepStrictEqual(object.document, placed.document);

/** The steps of documents whose objects differ, in the order of the documents. */
async function compareAll(transaction: Transaction, pairs: readonly Pair[], options: PlanOptions): Promise<Step[]> {
  const names = await readNames(
    transaction,
    pairs.map(({ placed }) => placed.document),
  );
  const steps = new Map<string, Step>();
  const add = (step: Step) => steps.set(keyOf(step), step);
  const existing: Existing[] = [];
  for (const { placed, object } of pairs) {
    if (!object) add(await creationStep(transaction, placed, names));
    else if (isOfAnother(object, options)) add(refusedStep(placed, object));
    else
      existing.push({
        placed,
        object,
        previous: object.set_name === options.set ? (object.document ?? undefined) : undefined,
      });
  }
  for (const step of await changeSteps(transaction, existing, names)) add(step);
  return pairs.flatMap(({ placed }) => steps.get(keyOf(placed.document)) ?? []);
}

async function creationStep(transaction: Transaction, placed: PlacedDocument, names: Names): Promise<Step> {
  const { document } = placed;
  return document.kind === 'application'
    ? applicationCreation(transaction, { ...placed, document }, names)
    : deploymentCreation({ ...placed, document }, names);
}

const isOfAnother = ({ set_name }: ManagedObject, { set, adopt }: PlanOptions): boolean =>
  set_name !== null && set_name !== set && !adopt;

function refusedStep(placed: PlacedDocument, { id, set_name, file, line }: ManagedObject): Step {
  const message = `belongs to the set ${set_name} (${file}:${line}). Remove it there, or adopt it`;
  return {
    ...stepOf(placed),
    id,
    action: 'change',
    cause: 'file',
    problems: [{ code: 'deployment_refused', path: 'name', message }],
    request: undefined,
    needs: [],
    runs: [placed.document.name],
  };
}

/** The steps of documents whose objects exist, and differ from them. */
async function changeSteps(transaction: Transaction, all: readonly Existing[], names: Names): Promise<Step[]> {
  const steps: Step[] = [];
  const byId = new Map(all.map((each) => [each.object.id, each]));
  for (const ids of portionsOf(all.map(({ object }) => object))) {
    const ofDeployments: Existing<DeploymentDocument>[] = [];
    const ofApplications: Existing<ApplicationDocument>[] = [];
    for (const { placed, previous, object } of ids.flatMap((id) => byId.get(id) ?? [])) {
      const { document } = placed;
      if (document.kind === 'deployment')
        ofDeployments.push({
          object,
          placed: { ...placed, document },
          previous: previous?.kind === 'deployment' ? previous : undefined,
        });
      else
        ofApplications.push({
          object,
          placed: { ...placed, document },
          previous: previous?.kind === 'application' ? previous : undefined,
        });
    }
    steps.push(...(await deploymentChanges(transaction, ofDeployments, names)));
    steps.push(...(await applicationChanges(transaction, ofApplications, names)));
  }
  return steps;
}

/** The steps that remove objects, each before those whose values or addresses it receives. */
async function removalsOf(transaction: Transaction, gone: readonly ManagedObject[]): Promise<Step[]> {
  if (gone.length > planLimits.changes) {
    const message = `leave out ${gone.length} objects of the set, and a plan can have at most ${planLimits.changes} changes`;
    throw invalid([{ path: 'files', message }]);
  }
  const of = (kind: ManagedObject['kind']) => gone.filter((object) => object.kind === kind);
  const steps = [
    ...(await deploymentRemovals(transaction, of('deployment'))),
    ...(await applicationRemovals(transaction, of('application'))),
  ];
  return inOrder(steps).ordered.toReversed();
}

/** The steps in the order of their bindings. Those of a cycle are refused. */
function inPlanOrder(steps: readonly Step[]): Step[] {
  const { ordered, cycle } = inOrder(steps);
  const [first] = cycle;
  if (first === undefined) return ordered;
  const message = `has variables that are bound in a cycle: ${cycle.join(', ')}`;
  return ordered.map((step) =>
    step.name === first
      ? { ...step, request: undefined, problems: [...step.problems, { code: 'invalid_env', path: 'env', message }] }
      : step,
  );
}

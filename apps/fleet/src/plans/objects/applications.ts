import type { ApplicationSpec } from '@svc/contract';
import type { ApplicationDocument, Overrides, Uses } from '@svc/contract/fleet';
import { readContent } from '../../applications/before.ts';
import type { Wanted } from '../../applications/decision/decide.ts';
import type { Inputs } from '../../applications/inputs.ts';
import { readRequested } from '../../applications/origin.ts';
import { overridesAfter } from '../../applications/overrides.ts';
import { readPartRows } from '../../applications/parts.ts';
import { type ApplicationRow, applications } from '../../applications/rows.ts';
import { newApplicationPolicy } from '../../applications/updates/policy.ts';
import type { Refusal } from '../../deployments/refusals.ts';
import type { DeploymentRow } from '../../deployments/rows.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { readRows } from '../../resources/kind.ts';
import type { PlacedDocument } from '../documents.ts';
import { type Names, targetNamed, unknownNames, volumesNamed } from '../names.ts';
import { namesNeeded } from '../order.ts';
import { causeOf, type Existing, refusalsIn, removalOf, type Step, stepOf } from '../step.ts';
import type { ManagedObject } from '../stored.ts';
import { compareApplication } from './compare-application.ts';

type Transaction = Prisma.TransactionClient;
type Placed = PlacedDocument<ApplicationDocument>;

/** The step of a document whose application does not exist. */
export async function applicationCreation(transaction: Transaction, placed: Placed, names: Names): Promise<Step> {
  const { document } = placed;
  const problems = unknownNames(document, names);
  const step = { ...stepOf(placed), id: null, action: 'create', cause: 'file', problems } as const;
  if (problems.length > 0) return { ...step, request: undefined, needs: [], runs: [] };
  const wanted = await wantedOf(transaction, document, names);
  const { on_failure: onFailure = 'auto' } = document;
  return {
    ...step,
    request: { kind: 'application', requested: { kind: 'creation', wanted, onFailure } },
    needs: neededBy(wanted),
    runs: namesOfParts(wanted),
  };
}

/** The new application that a document describes. Its names exist. */
async function wantedOf(transaction: Transaction, document: ApplicationDocument, names: Names): Promise<Wanted> {
  const { name, labels = {}, inputs = {}, replicas = {}, use: uses = {}, desired_state = 'running' } = document;
  const content = await readRequested(transaction, document);
  return {
    name,
    labels,
    ...content,
    inputs,
    replicas,
    volumes: volumesNamed(document, names),
    overrides: overridesAfter(content.spec, {}, document.overrides),
    uses,
    updates: newApplicationPolicy(document.updates),
    target: targetNamed(document, names),
    desiredState: desired_state,
  };
}

interface Needing {
  readonly inputs: Inputs;
  readonly overrides: Overrides;
  readonly uses: Uses;
}

/** The deployments whose values or addresses an application receives, or that serve instead of its parts. */
function neededBy({ inputs, overrides, uses }: Needing): string[] {
  const ofInputs = Object.values(inputs).flatMap((value) =>
    typeof value === 'object' && 'deployment' in value ? [value.deployment] : [],
  );
  const ofOverrides = Object.values(overrides).flatMap(({ env = {} }) => namesNeeded(env));
  return [...new Set([...ofInputs, ...ofOverrides, ...Object.values(uses).map(({ deployment }) => deployment)])];
}

/** The names of the deployments of the parts, and that of the application. */
const namesOfParts = ({ name, spec }: { readonly name: string; readonly spec: ApplicationSpec }): string[] => [
  name,
  ...spec.parts.map((part) => `${name}-${part.name}`),
];

/** The steps of documents whose applications exist, and differ from them. All their rows are read at once. */
export async function applicationChanges(
  transaction: Transaction,
  existing: readonly Existing<ApplicationDocument>[],
  names: Names,
): Promise<Step[]> {
  const byId = new Map(existing.map((each) => [each.object.id, each]));
  const rows = await readRows(transaction, applications, [...byId.keys()]);
  const steps: Step[] = [];
  for (const row of rows) {
    const each = byId.get(row.id);
    const step = each && (await changeStep(transaction, { ...each, row, names }));
    if (step) steps.push(step);
  }
  return steps;
}

interface Changed extends Existing<ApplicationDocument> {
  readonly row: ApplicationRow;
  readonly names: Names;
}

/** The step of a document whose application exists; undefined if they match. */
async function changeStep(transaction: Transaction, changed: Changed): Promise<Step | undefined> {
  const { placed, previous, row, names } = changed;
  const { document } = placed;
  const content = await readContent(transaction, row.id, row.generation);
  const parts = await readPartRows(transaction, row);
  const { inputs = row.inputs, overrides = row.overrides, use: uses = row.uses, spec = content.spec } = document;
  const step = {
    ...stepOf(placed),
    id: row.id,
    action: 'change',
    cause: causeOf(changed),
    needs: neededBy({ inputs, overrides, uses }),
    runs: [...new Set([...namesOfParts({ name: row.name, spec }), ...parts.map(({ name }) => name)])],
  } as const;
  const refused = (problems: readonly Refusal[]): Step => ({ ...step, problems, request: undefined });
  // What it is a copy of is compared by name; an application of the past need not be in the catalog.
  const unknown = unknownNames(document, names, ['application']);
  if (unknown.length > 0) return refused(unknown);
  try {
    const { change, problems } = compareApplication({ document, previous, row, content, parts, names });
    if (problems.length > 0) return refused(problems);
    if (change === undefined) return undefined;
    return { ...step, problems, request: { kind: 'application', requested: { kind: 'change', row, change } } };
  } catch (error) {
    return refused(refusalsIn(error));
  }
}

/** The steps that remove applications, or release them. */
export async function applicationRemovals(transaction: Transaction, gone: readonly ManagedObject[]): Promise<Step[]> {
  const rows = await readRows(
    transaction,
    applications,
    gone.map(({ id }) => id),
  );
  const steps: Step[] = [];
  for (const object of gone) {
    const row = rows.find(({ id }) => id === object.id);
    if (!row) continue;
    const { on_removal = 'keep_data' } = object.document ?? {};
    const isKept = on_removal === 'keep' || row.deleting;
    const parts = await readPartRows(transaction, row);
    steps.push({
      ...removalOf(object),
      action: isKept ? 'release' : 'delete',
      request: isKept ? undefined : { kind: 'application', requested: { kind: 'deletion', row } },
      removed: isKept ? [] : parts.map(({ id, name }) => ({ id, name })),
      deletesData: on_removal === 'delete_all',
      needs: neededByParts(parts, row.uses),
      runs: [row.name, ...parts.map(({ name }) => name)],
    });
  }
  return steps;
}

/** The other deployments whose values or addresses parts receive. */
function neededByParts(parts: readonly DeploymentRow[], uses: Uses): string[] {
  const own = parts.map(({ name }) => name);
  const needed = [
    ...parts.flatMap(({ env }) => namesNeeded(env)),
    ...Object.values(uses).map(({ deployment }) => deployment),
  ];
  return [...new Set(needed)].filter((name) => !own.includes(name));
}

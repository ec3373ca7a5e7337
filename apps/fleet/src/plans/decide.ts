import type { Reply } from '@svc/contract';
import type { fleetEndpoints } from '@svc/contract/fleet';
import type { Decision } from '../deployments/decision.ts';
import { runSpecOf } from '../deployments/draft.ts';
import { type Decided, decisionsIn, isRefused, type PlanContext } from '../deployments/plans/several.ts';
import type { Refusal } from '../deployments/refusals.ts';
import { digestOfPlan, sha256 } from '../deployments/updates/digest.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import type { PlacedDocument } from './documents.ts';
import { type PlanOptions, readSteps, refusalsIn, type Step } from './steps.ts';
import type { ManagedObject } from './stored.ts';

/** A volume that is deleted with its data. */
interface Loss {
  readonly deployment: string;
  readonly volume: string;
  readonly size: string;
}

/** A step with its decision; undefined for a release, and for a refused one. */
interface DecidedStep {
  readonly step: Step;
  readonly decided: Decided | undefined;
  readonly refusals: readonly Refusal[];
}

/** The decision about all documents of a plan. */
export interface PlanDecision {
  readonly steps: readonly DecidedStep[];
  readonly losses: readonly Loss[];
  readonly unchanged: number;
  readonly leftOut: readonly ManagedObject[];
  /** Identifies the decision. */
  readonly digest: string;
  /** Identifies the decision about each object, by kind and name. */
  readonly parts: Readonly<Record<string, string>>;
}

/**
 * Decides what documents describe, without writing anything. @throws 400 for more changes than a
 * plan can have
 */
export async function decidePlan(
  context: PlanContext,
  documents: readonly PlacedDocument[],
  options: PlanOptions,
  examine: (decided: Decided) => void = () => undefined,
): Promise<PlanDecision> {
  const { transaction } = context;
  const { steps, unchanged, leftOut } = await readSteps(transaction, documents, options);
  const decide = await decisionsIn(context);
  const decided: DecidedStep[] = [];
  for (const step of steps) decided.push(await decideStep(step, decide, examine));
  const losses = await readLosses(
    transaction,
    steps.flatMap(({ id, deletesData }) => (deletesData && id !== null ? id : [])),
  );
  const parts = Object.fromEntries(decided.map((each) => [keyOf(each.step), partOf(each, losses)]));
  const described = documents.map(({ kind, document }) => [kind, document]);
  return { steps: decided, losses, unchanged, leftOut, parts, digest: sha256({ options, described, parts }) };
}

/** How a plan names an object. */
const keyOf = ({ kind, name }: Pick<Step, 'kind' | 'name'>): string => `${kind} ${name}`;

async function decideStep(
  step: Step,
  decide: Awaited<ReturnType<typeof decisionsIn>>,
  examine: (decided: Decided) => void,
): Promise<DecidedStep> {
  const { requested, problems } = step;
  if (requested === undefined) return { step, decided: undefined, refusals: problems };
  const decided = await decide(requested).catch((error: unknown) => ({ refusals: refusalsIn(error) }));
  if (!('kind' in decided)) return { step, decided: undefined, refusals: decided.refusals };
  examine(decided);
  return { step, decided, refusals: isRefused(decided) ? refusalsOf(decided) : [] };
}

const refusalsOf = (decided: Decided): readonly Refusal[] =>
  decided.kind === 'deletion'
    ? decided.dependents.map(({ kind, name }) => ({
        code: 'deployment_refused',
        path: 'on_removal',
        message: `does not permit the deletion: the ${kind} ${name} is bound to the deployment`,
      }))
    : decided.refusals;

/** The target and the GPUs that a decision chooses. */
const choiceOf = ({ chosen, draft }: Decision) => [chosen ?? draft.target, chosen?.gpus ?? []];

/**
 * Identifies the decision about an object: its state before, what it will run, and where; or what is
 * lost. Ids and ports that are chosen for it are not part of it.
 */
function partOf({ step, decided, refusals }: DecidedStep, losses: readonly Loss[]): string {
  const { action, id, deletesData, name } = step;
  const what = [action, id, refusals];
  if (decided === undefined) return sha256(what);
  if (decided.kind === 'deletion') {
    const { version, generation } = decided.before;
    return sha256([...what, version, generation, deletesData, losses.filter(({ deployment }) => deployment === name)]);
  }
  if (decided.kind === 'creation') {
    const { draft } = decided.decision;
    const { templateHash, templateRevision } = draft.workload;
    return sha256([...what, runSpecOf(draft), templateHash, templateRevision, ...choiceOf(decided.decision)]);
  }
  const choice = decided.decision ? choiceOf(decided.decision) : [];
  return sha256([...what, digestOfPlan(decided.before, decided.draft), decided.draft.updates, ...choice]);
}

/** The volumes that are deleted with deployments. */
async function readLosses(transaction: Prisma.TransactionClient, ids: readonly string[]): Promise<Loss[]> {
  if (ids.length === 0) return [];
  return transaction.$queryRaw<Loss[]>`
    SELECT d.name AS deployment, v.name AS volume, v.size FROM volumes v JOIN deployments d ON d.id = v.deployment_id
    WHERE d.id = ANY(${ids}::uuid[]) AND v.reclaim = 'delete' AND v.phase <> 'deleting'
      AND NOT EXISTS (SELECT FROM attachments a WHERE a.volume_id = v.id AND a.deployment_id <> d.id)
    ORDER BY d.name, v.name`;
}

type StoredPlan = Reply<typeof fleetEndpoints.getPlan>['plan'];
type PlannedChange = StoredPlan['changes'][number];

/** What a plan shows of a creation or a change. */
export type Shown = Pick<PlannedChange, 'values' | 'target' | 'replaces_instances' | 'outage'>;

/** What a plan states, as it is stored. */
export type PlanContent = Pick<StoredPlan, 'summary' | 'changes' | 'refusals' | 'losses' | 'left_out'> & {
  readonly parts: PlanDecision['parts'];
};

const MAX_LEFT_OUT = 100;

/** Describes a decision for people. `show` is asked about each accepted creation and change. */
export async function describePlan(
  { steps, losses, unchanged, leftOut, parts }: PlanDecision,
  show: (decided: Exclude<Decided, { kind: 'deletion' }>) => Promise<Shown>,
  nothing: Shown,
): Promise<PlanContent> {
  const changes: PlannedChange[] = [];
  for (const { step, decided, refusals } of steps) {
    const isShown = decided !== undefined && decided.kind !== 'deletion' && refusals.length === 0;
    const shown = isShown ? await show(decided) : nothing;
    const { kind, name, id, action, file, line, cause } = step;
    changes.push({ kind, name, id, action, file, line, cause, ...shown });
  }
  const count = (wanted: Step['action']) => steps.filter(({ step }) => step.action === wanted).length;
  return {
    summary: {
      create: count('create'),
      change: count('change'),
      delete: count('delete'),
      release: count('release'),
      unchanged,
      interrupted: changes.filter(({ outage }) => outage.expected).length,
      left_out: leftOut.length,
    },
    changes,
    refusals: steps.flatMap(({ step, refusals }) =>
      refusals.map(({ code, path, message }) => {
        const { kind, name, file, lineOf } = step;
        return { kind, name, file, line: lineOf(path), code, path, message };
      }),
    ),
    losses: [...losses],
    left_out: leftOut.slice(0, MAX_LEFT_OUT).map(({ kind, name }) => ({ kind, name })),
    parts,
  };
}

import { codedMessages, type Reply, SECRET_INPUT } from '@svc/contract';
import type { fleetEndpoints } from '@svc/contract/fleet';
import { invalid } from '@svc/http';
import { refusalsByPart } from '../applications/apply.ts';
import {
  type DecidedChange as DecidedApplicationChange,
  decideChange as decideApplicationChange,
} from '../applications/change.ts';
import { type DecidedApplication, decideApplication } from '../applications/decision/decide.ts';
import { type DecidedDeletion as DecidedApplicationDeletion, decideDeletion } from '../applications/deletion.ts';
import type { Decision } from '../deployments/decision.ts';
import { runSpecOf } from '../deployments/draft.ts';
import {
  type Decided,
  type Decisions,
  decisionsIn,
  isRefused,
  type PlanContext,
} from '../deployments/plans/several.ts';
import type { Refusal } from '../deployments/refusals.ts';
import { digestOfPlan, sha256 } from '../deployments/updates/digest.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { keyOf, type PlacedDocument } from './documents.ts';
import { type ObjectRequest, type PlanOptions, type RequestedApplication, refusalsIn, type Step } from './step.ts';
import { readSteps } from './steps.ts';
import type { ManagedObject } from './stored.ts';

/** A volume that is deleted with its data. */
interface Loss {
  readonly deployment: string;
  readonly volume: string;
  readonly size: string;
}

/** The decision about an object. */
export type DecidedObject =
  | { readonly kind: 'deployment'; readonly decided: Decided }
  | { readonly kind: 'application'; readonly decided: DecidedOfApplication };

type DecidedOfApplication =
  | (Extract<RequestedApplication, { kind: 'creation' }> & { readonly decided: DecidedApplication })
  | ({ readonly kind: 'change' } & DecidedApplicationChange)
  | ({ readonly kind: 'deletion' } & DecidedApplicationDeletion);

/** A step with its decision; undefined for a release, and for a refused one. */
interface DecidedStep {
  readonly step: Step;
  readonly decided: DecidedObject | undefined;
  readonly refusals: readonly Refusal[];
}

/** The decision about all documents of a plan. */
export interface PlanDecision {
  readonly steps: readonly DecidedStep[];
  readonly losses: readonly Loss[];
  readonly unchanged: number;
  /** The documents whose objects were changed by hand and stay so, by kind and name. */
  readonly kept: readonly string[];
  readonly leftOut: readonly ManagedObject[];
  /** Identifies the decision. */
  readonly digest: string;
  /** Identifies the decision about each object, by kind and name. */
  readonly parts: Readonly<Record<string, string>>;
}

/**
 * Decides what documents describe, without writing anything. @throws 400 for more changes than a
 * plan can have, and for text of secret variables and inputs
 */
export async function decidePlan(
  context: PlanContext,
  documents: readonly PlacedDocument[],
  options: PlanOptions,
  examine: (decided: DecidedObject) => void = () => undefined,
): Promise<PlanDecision> {
  const { transaction } = context;
  const { steps, unchanged, kept, leftOut } = await readSteps(transaction, documents, options);
  const decisions = await decisionsIn(context);
  const decided: DecidedStep[] = [];
  for (const step of steps) decided.push(await decideStep(step, decisions, examine));
  refuseSecretTexts(decided);
  const losses = await readLosses(
    transaction,
    steps.flatMap(({ removed, deletesData }) => (deletesData ? removed.map(({ id }) => id) : [])),
  );
  const parts = Object.fromEntries(decided.map((each) => [keyOf(each.step), partOf(each, losses)]));
  const described = documents.map(({ document }) => [document.kind, document]);
  return { steps: decided, losses, unchanged, kept, leftOut, parts, digest: sha256({ options, described, parts }) };
}

/** The problems of values that everybody who sees the files would know. */
const SECRET_TEXTS: readonly string[] = [codedMessages.secret_text, codedMessages.composed_text, SECRET_INPUT];

/** @throws 400, so that no plan with such files is stored */
function refuseSecretTexts(steps: readonly DecidedStep[]): void {
  const errors = steps.flatMap(({ step: { file, lineOf }, refusals }) =>
    refusals
      .filter(({ message }) => SECRET_TEXTS.includes(message))
      .map(({ path, message }) => ({ path: `${file}:${lineOf(path)}`, message: `${path} ${message}` })),
  );
  if (errors.length > 0) throw invalid(errors);
}

async function decideStep(
  step: Step,
  decisions: Decisions,
  examine: (decided: DecidedObject) => void,
): Promise<DecidedStep> {
  const { request, problems } = step;
  if (request === undefined) return { step, decided: undefined, refusals: problems };
  const decided = await decideObject(request, decisions).catch((error: unknown) => ({ refusals: refusalsIn(error) }));
  if (!('kind' in decided)) return { step, decided: undefined, refusals: decided.refusals };
  examine(decided);
  return { step, decided, refusals: refusalsOf(decided) };
}

async function decideObject(request: ObjectRequest, decisions: Decisions): Promise<DecidedObject> {
  if (request.kind === 'deployment') return { kind: 'deployment', decided: await decisions.one(request.requested) };
  const decided = await decisions.together(
    (context) => decideOneApplication(context, request.requested),
    (result) => (isRefusedApplication(result) ? [] : partsOf(result)),
  );
  return { kind: 'application', decided };
}

async function decideOneApplication(
  context: PlanContext,
  requested: RequestedApplication,
): Promise<DecidedOfApplication> {
  if (requested.kind === 'creation')
    return { ...requested, decided: await decideApplication(context, requested.wanted) };
  if (requested.kind === 'deletion') return { kind: 'deletion', ...(await decideDeletion(context, requested.row)) };
  return { kind: 'change', ...(await decideApplicationChange(context, requested.row, requested.change)) };
}

/** The decisions about the deployments of an application. */
const partsOf = (one: DecidedOfApplication): readonly Decided[] =>
  one.kind === 'deletion' ? one.parts : one.decided.parts.map(({ decided }) => decided);

const isRefusedApplication = (one: DecidedOfApplication): boolean =>
  one.kind === 'deletion' ? one.parts.some(isRefused) : one.decided.refusals.length > 0;

/** The decisions about the deployments of an object. */
export const deploymentsOf = (one: DecidedObject): readonly Decided[] =>
  one.kind === 'deployment' ? [one.decided] : partsOf(one.decided);

function refusalsOf(one: DecidedObject): readonly Refusal[] {
  if (one.kind === 'application' && one.decided.kind !== 'deletion')
    return refusalsByPart(one.decided.decided.refusals);
  const all = deploymentsOf(one);
  const deleted = all.flatMap((decided) => (decided.kind === 'deletion' ? decided.before.name : []));
  return all.flatMap((decided) => refusalsOfDeployment(decided, deleted));
}

/** The reasons against a decision, without those that follow from the refusal of another deletion of `deleted`. */
const refusalsOfDeployment = (decided: Decided, deleted: readonly string[]): readonly Refusal[] =>
  decided.kind === 'deletion'
    ? decided.dependents
        .filter(({ name }) => !deleted.includes(name))
        .map(({ kind, name }) => ({
          code: 'deployment_refused',
          path: 'on_removal',
          message: `does not permit the deletion: the ${kind} ${name} is bound to the deployment ${decided.before.name}`,
        }))
    : decided.refusals;

/** The target and the GPUs that a decision chooses. */
const choiceOf = ({ chosen, draft }: Decision) => [chosen ?? draft.target, chosen?.gpus ?? []];

/**
 * Identifies the decision about an object: its state before, what it will run, and where; or what is
 * lost. Ids and ports that are chosen for it are not part of it.
 */
function partOf({ step, decided, refusals }: DecidedStep, losses: readonly Loss[]): string {
  const { action, id } = step;
  const what = [action, id, refusals];
  if (decided === undefined) return sha256(what);
  return sha256([
    ...what,
    ...(decided.kind === 'application'
      ? contentOfApplication(decided.decided, step, losses)
      : contentOfDeployment(decided.decided, step, losses)),
  ]);
}

function contentOfDeployment(decided: Decided, step: Step, losses: readonly Loss[]): unknown[] {
  if (decided.kind === 'deletion') {
    const { version, generation } = decided.before;
    return [version, generation, step.deletesData, lossesOf(step, losses)];
  }
  if (decided.kind === 'creation') {
    const { draft } = decided.decision;
    const { templateHash, templateRevision } = draft.workload;
    return [runSpecOf(draft), templateHash, templateRevision, ...choiceOf(decided.decision)];
  }
  const choice = decided.decision ? choiceOf(decided.decision) : [];
  return [digestOfPlan(decided.before, decided.draft), decided.draft.updates, ...choice];
}

function contentOfApplication(one: DecidedOfApplication, step: Step, losses: readonly Loss[]): unknown[] {
  if (one.kind === 'deletion') {
    const { version, generation } = one.row;
    return [version, generation, step.deletesData, lossesOf(step, losses)];
  }
  const { digest, wanted, newValues } = one.decided;
  const onFailure = one.kind === 'creation' ? one.onFailure : one.change.onFailure;
  return [digest, wanted.updates, onFailure ?? null, wanted.origin?.hash ?? null, newValues];
}

const lossesOf = ({ removed }: Step, losses: readonly Loss[]): Loss[] =>
  losses.filter(({ deployment }) => removed.some(({ name }) => name === deployment));

/** The volumes that are deleted with deployments. */
async function readLosses(transaction: Prisma.TransactionClient, ids: readonly string[]): Promise<Loss[]> {
  if (ids.length === 0) return [];
  return transaction.$queryRaw<Loss[]>`
    SELECT d.name AS deployment, v.name AS volume, v.size FROM volumes v JOIN deployments d ON d.id = v.deployment_id
    WHERE d.id = ANY(${ids}::uuid[]) AND v.reclaim = 'delete' AND v.phase <> 'deleting'
      AND NOT EXISTS (SELECT FROM attachments a WHERE a.volume_id = v.id AND a.deployment_id <> ALL(${ids}::uuid[]))
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
  { steps, losses, unchanged, kept, leftOut, parts }: PlanDecision,
  show: (decided: DecidedObject) => Promise<Shown>,
  nothing: Shown,
): Promise<PlanContent> {
  const changes: PlannedChange[] = [];
  for (const { step, decided, refusals } of steps) {
    const isShown = decided !== undefined && decided.decided.kind !== 'deletion' && refusals.length === 0;
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
      kept: kept.length,
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

import type { ApplicationSpec } from '@svc/contract';
import {
  type ApplicationUpdates,
  type NewDeployment,
  type Target,
  type Trust,
  type Uses,
  workloadDefaults,
} from '@svc/contract/fleet';
import { v7 as uuidv7 } from 'uuid';
import type { NewDeploymentRequest, VolumeRequest } from '../../deployments/draft.ts';
import { runSpecOf } from '../../deployments/draft.ts';
import {
  type Decided,
  decideAll,
  isRefused,
  type PlanContext,
  type Requested,
} from '../../deployments/plans/several.ts';
import type { Refusal } from '../../deployments/refusals.ts';
import type { DeploymentRow } from '../../deployments/rows.ts';
import { admittedOf, isRefusedOn, type RefusedTargets, trustedIn } from '../../deployments/templates/trust.ts';
import { sha256 } from '../../deployments/updates/digest.ts';
import type { Candidate } from '../../placement/candidates.ts';
import { refuseFieldErrors } from '../../resources/field-errors.ts';
import { refuseUnknownTarget, targetOf } from '../../resources/targets.ts';
import type { Before, Present } from '../before.ts';
import type { Origin } from '../origin.ts';
import { chosenProblems } from '../uses.ts';
import { type CompiledPart, type Requested as Content, compile } from './compile.ts';
import { type Rejected, rankTargets } from './targets.ts';
import { examineApplication, refusalsByPart, type StoredSpecification } from './trust.ts';

/** What an application is to be. */
export interface Wanted extends Omit<Content, 'known'> {
  readonly labels: Readonly<Record<string, string>>;
  readonly updates: ApplicationUpdates;
  readonly target: Target | null;
  readonly desiredState: 'running' | 'stopped';
  /** The application of the catalog of which the specification is a copy. */
  readonly origin?: Origin | undefined;
  /** The stored specification that an application continues to have; undefined: it begins to have another one. */
  readonly stored?: StoredSpecification | undefined;
}

/** A reason to refuse an application; without a part, it concerns the whole. */
export interface PartRefusal extends Refusal {
  readonly part: string | null;
}

/** An application as it was decided. */
export interface DecidedApplication {
  /** That of the application, also of a new one. */
  readonly id: string;
  readonly wanted: Wanted;
  /** In the order of the decisions. */
  readonly parts: readonly DecidedPart[];
  /** The ids of the sealed values by the names of the generated values, and the names of those that do not exist yet. */
  readonly generated: ReadonlyMap<string, string>;
  readonly newValues: readonly string[];
  readonly target: Target | null;
  readonly rejected: readonly Rejected[];
  readonly unchecked: readonly Target[];
  readonly refusals: readonly PartRefusal[];
  /** Who signed what it is a copy of. */
  readonly trust: Trust;
  /** Identifies the decision: the same request in the same state has the same one. */
  readonly digest: string;
  /** Identifies what runs. */
  readonly fingerprint: string;
}

export interface DecidedPart {
  readonly compiled: CompiledPart;
  readonly decided: Exclude<Decided, { readonly kind: 'deletion' }>;
}

/** The request for the deployment of a part. */
export type RequestOf = (part: CompiledPart, request: Omit<NewDeploymentRequest, 'target'>) => Requested | undefined;

/** What exists of an application before a change, or of the deployments that become one. */
interface Existing {
  readonly before?: Present;
  readonly changeOf?: RequestOf;
  /** The deployments that serve instead of parts. */
  readonly usesBefore?: Uses;
}

/**
 * Decides an application without writing anything: all parts on one target, in an order in which each finds those that it
 * needs. `changeOf` is the change of a part that exists. @throws 400 for a request about which nothing can be decided
 */
export async function decideApplication(
  context: PlanContext,
  wanted: Wanted,
  { before, changeOf, usesBefore = {} }: Existing = {},
): Promise<DecidedApplication> {
  const present = before?.generated ?? new Map<string, string>();
  const names = wanted.spec.generated.map(({ name }) => name);
  const generated = new Map([
    ...present,
    ...names.filter((name) => !present.has(name)).map((name) => [name, uuidv7()] as const),
  ]);
  const known = new Map([...(before?.parts ?? [])].map(([name, { row }]) => [name, row.name]));
  const { parts, problems } = compile({ ...wanted, known }, (name) => generated.get(name) ?? '');
  refuseFieldErrors([...problems, ...(before ? [] : targetProblems(wanted))]);
  const chosen = { id: before?.row?.id, uses: wanted.uses, before: usesBefore };
  refuseFieldErrors(await chosenProblems(context, chosen));
  const trusted = context.trusted ?? trustedIn(context.transaction);
  const trust = await examineApplication({ ...context, trusted }, wanted);
  const once = {
    ...context,
    ofParts: true,
    trusted,
    ofApplication: { ...trust, overrides: wanted.overrides },
    candidates: await context.candidates.readOnce(context.transaction),
  };
  const ofName = before?.row ? [] : await refusalsOfName(once, wanted);
  const id = before?.row?.id ?? uuidv7();
  const requests = requestsOf(wanted, parts, id);
  const onTarget = (target: Target | null) =>
    decideAll(
      once,
      requests.flatMap((request, index): Requested[] => {
        const part = parts[index];
        const change = part && changeOf?.(part, request);
        return [change ?? { kind: 'creation', request: { ...request, target } }];
      }),
    );
  const { decided, target, rejected, unchecked } = before
    ? await onPresentTarget(before, onTarget)
    : await onBestTarget(once, { wanted, parts, refusedTargets: trust.refusedTargets, onTarget });
  const ofParts = decided.flatMap((each, index) => refusalsOf(each, { part: parts[index], decided, parts }));
  const ofTarget = decided.length === 0 ? refusalsOfTargets(rejected) : [];
  return {
    id,
    wanted,
    parts: decided.flatMap((each, index) => {
      const compiled = parts[index];
      return compiled && each.kind !== 'deletion' ? [{ compiled, decided: each }] : [];
    }),
    generated,
    newValues: names.filter((name) => !present.has(name)),
    target,
    rejected,
    unchecked,
    refusals: [
      ...ofName,
      ...(wanted.origin?.refusals ?? []),
      ...refusalsByPart({
        ofApplication: isRefusedOn(trust.refusedTargets, target) ? trust.refusals : [],
        ofParts,
        untrusted: trust.parts,
        parts: parts.map(({ name }) => name),
      }),
      ...ofTarget,
    ],
    trust: trust.verdict,
    digest: digestOf({ wanted, before, target, decided }),
    fingerprint: sha256(
      parts.map(({ name, spec, env, hostPorts }) => [name, spec, env, ...(hostPorts ? [hostPorts] : [])]),
    ),
  };
}

/** Parts choose their target together, when they are created. */
const targetProblems = ({ target, desiredState }: Wanted) =>
  target === null && desiredState === 'stopped'
    ? [{ path: 'target', message: 'is required for an application that is created without being started' }]
    : [];

interface OnTarget {
  readonly decided: readonly Decided[];
  readonly target: Target | null;
  readonly rejected: readonly Rejected[];
  readonly unchecked: readonly Target[];
}

type DecideOn = (target: Target | null) => Promise<readonly Decided[]>;

/** An application keeps its target. One that has never run chooses it with its first part. */
async function onPresentTarget({ parts }: Present, onTarget: DecideOn): Promise<OnTarget> {
  const [first] = [...parts.values()].flatMap(({ row }) => targetOf(row) ?? []);
  const target = first ?? null;
  return { decided: await onTarget(target), target, rejected: [], unchecked: [] };
}

interface Choice {
  readonly wanted: Wanted;
  readonly parts: readonly CompiledPart[];
  /** Targets on which the policy of trust refuses it. Others come first. */
  readonly refusedTargets: RefusedTargets;
  readonly onTarget: DecideOn;
}

/** Decides all parts on the requested target, otherwise on the best one that takes all. */
async function onBestTarget(
  context: PlanContext,
  { wanted, parts, refusedTargets, onTarget }: Choice,
): Promise<OnTarget> {
  await refuseUnknownTarget(context.transaction, wanted.target, { hold: false });
  const isFixed = wanted.target !== null || wanted.desiredState === 'stopped';
  const { fitting, rejected, unchecked } = isFixed
    ? { fitting: [wanted.target], rejected: [], unchecked: [] }
    : rankAdmitted(await context.candidates.read(context.transaction), parts, refusedTargets);
  let first: OnTarget | undefined;
  for (const target of fitting) {
    const result = { decided: await onTarget(target), target, rejected, unchecked };
    if (!result.decided.some(isRefused)) return result;
    first ??= result;
    if (!dependsOnTarget(result.decided)) break;
  }
  return first ?? { decided: [], target: null, rejected, unchecked };
}

/** The targets that the policy of trust admits; all if no part fits on one of them, so that the decision states the reason. */
function rankAdmitted(
  candidates: readonly Candidate[],
  parts: readonly CompiledPart[],
  refusedTargets: RefusedTargets,
): ReturnType<typeof rankTargets> {
  const admitted = admittedOf(candidates, refusedTargets);
  const ranked = rankTargets(admitted, parts);
  return ranked.fitting.length > 0 || admitted.length === candidates.length ? ranked : rankTargets(candidates, parts);
}

/** Whether another target can accept what one has refused. */
const dependsOnTarget = (decided: readonly Decided[]): boolean =>
  decided.every(
    (each) =>
      each.kind === 'deletion' || each.refusals.every(({ code }) => code === 'no_placement' || code === 'invalid_env'),
  );

/** The requests for the deployments of all parts, without their target. */
function requestsOf(
  { labels, desiredState, spec, updates: { ready_seconds, deadline_seconds } }: Wanted,
  parts: readonly CompiledPart[],
  applicationId: string,
): Omit<NewDeploymentRequest, 'target'>[] {
  const shared = new Map<string, string>();
  return parts.map((part) => ({
    name: part.deployment,
    labels,
    // The rules for new workloads allow less than those for stored ones; the schema of the application has checked them.
    spec: part.spec as NewDeployment['spec'],
    env: {},
    recordedEnv: part.env,
    host_ports: part.hostPorts,
    replicas: part.replicas,
    autoscaling: null,
    scaled_by: 'fleet' as const,
    volumes: volumesOf(part, shared, spec),
    desired_state: desiredState,
    pull: 'auto' as const,
    // A part never returns alone.
    updates: { ready_seconds, deadline_seconds, on_failure: 'stop' as const },
    membership: { id: applicationId, part: part.name },
  }));
}

/** The volumes of a part. The first part that has a shared volume creates it, and the others mount it. */
function volumesOf(
  part: CompiledPart,
  shared: Map<string, string>,
  spec: ApplicationSpec,
): Readonly<Record<string, VolumeRequest>> {
  const mounts = spec.parts.find(({ name }) => name === part.name)?.volume_mounts ?? [];
  return Object.fromEntries(
    mounts.flatMap(({ name }): [string, VolumeRequest][] => {
      const requested = part.volumes[name] ?? {};
      if (!part.shared.includes(name)) return part.volumes[name] === undefined ? [] : [[name, requested]];
      const known = shared.get(name);
      if (known !== undefined) return [[name, { storage_id: known }]];
      const id = requested.storage_id ?? uuidv7();
      shared.set(name, id);
      return [[name, requested.storage_id === undefined ? { size: requested.size, shared_id: id } : requested]];
    }),
  );
}

/** Applications and deployments share their names. */
async function refusalsOfName({ transaction }: PlanContext, { name }: Wanted): Promise<PartRefusal[]> {
  const [used] = await transaction.$queryRaw<{ by_application: boolean; by_deployment: boolean }[]>`
    SELECT EXISTS (SELECT FROM applications WHERE name = ${name}) AS by_application,
      EXISTS (SELECT FROM deployments WHERE name = ${name}) AS by_deployment`;
  const by = used?.by_application ? 'another application' : used?.by_deployment ? 'a deployment' : undefined;
  return by === undefined
    ? []
    : [{ part: null, code: 'name_taken', path: 'name', message: `is already used by ${by}; choose another name` }];
}

interface Refused {
  readonly part: CompiledPart | undefined;
  readonly decided: readonly Decided[];
  readonly parts: readonly CompiledPart[];
}

/** The reasons against a part, without those that follow from the refusal of another part. */
function refusalsOf(decided: Decided, { part, decided: all, parts }: Refused): PartRefusal[] {
  if (decided.kind === 'deletion' || !part) return [];
  const missing = parts
    .filter((_, index) => all.some((each, position) => position === index && isRefused(each)))
    .map(({ deployment }) => `names the deployment ${deployment}, which does not exist`);
  return decided.refusals
    .filter(({ message }) => !missing.includes(message))
    .map((refusal) => ({ ...refusal, part: part.name }));
}

function refusalsOfTargets(rejected: readonly Rejected[]): PartRefusal[] {
  const common = { part: null, code: 'no_placement' as const, path: 'target' };
  if (rejected.length === 0) return [{ ...common, message: 'cannot be chosen: no host or cluster is registered' }];
  return rejected.map(({ kind, name, reason }) => ({ ...common, message: `cannot be ${kind} ${name}: ${reason}` }));
}

interface Digested {
  readonly wanted: Wanted;
  readonly before: Present | undefined;
  readonly target: Target | null;
  readonly decided: readonly Decided[];
}

/** Ids that are generated for the application are not part of it. */
function digestOf({ wanted, before, target, decided }: Digested): string {
  const { name, spec, inputs, replicas, volumes, overrides, uses, labels, desiredState } = wanted;
  const drafts = decided.flatMap((each) => (each.kind === 'deletion' ? [] : (each.decision?.draft ?? [])));
  const rows = [...(before?.parts.values() ?? [])].map(({ row }): [string, number, number] => [
    row.id,
    row.version,
    row.generation,
  ]);
  return sha256({
    before: [before?.row?.id, before?.row?.version, before?.row?.generation, rows],
    request: [name, spec, inputs, replicas, volumes, overrides, uses, labels, desiredState],
    target: target && [target.kind, target.id],
    parts: drafts.map((draft) => [draft.name, runSpecOf(draft), draft.defaultsVersion, draft.defaultLimits]),
  });
}

/** What a part runs, with the defaults of members that the specification leaves out. */
export const fullSpecOf = ({ spec }: Pick<CompiledPart, 'spec'>) => ({ ...workloadDefaults, ...spec });

/** The deployments that the parts had before, without those that the application still has. */
export const retiredParts = (
  before: Pick<Before, 'parts'>,
  { parts }: Pick<DecidedApplication, 'parts'>,
): DeploymentRow[] =>
  [...before.parts].filter(([name]) => !parts.some(({ compiled }) => compiled.name === name)).map(([, { row }]) => row);

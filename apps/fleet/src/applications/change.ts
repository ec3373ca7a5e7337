import { isDeepStrictEqual } from 'node:util';
import type { ApplicationSpec } from '@svc/contract';
import type { ApplicationUpdates, ApplicationUpdatesInput, Overrides, Uses } from '@svc/contract/fleet';
import { notFound, Problem } from '@svc/http';
import type { DeploymentChange } from '../deployments/changes.ts';
import { revisionOf } from '../deployments/draft.ts';
import type { Operation } from '../deployments/generations.ts';
import type { PlanContext, Requested } from '../deployments/plans/several.ts';
import { changeToGeneration } from '../deployments/updates/restore.ts';
import { withoutTemplate } from '../resources/workloads.ts';
import { type Before, type Content, type PartBefore, readBefore, readContent } from './before.ts';
import type { CompiledPart } from './decision/compile.ts';
import {
  type DecidedApplication,
  decideApplication,
  fullSpecOf,
  type RequestOf,
  retiredParts,
  type Wanted,
} from './decision/decide.ts';
import type { Inputs } from './inputs.ts';
import { changeOfJob, isJob } from './jobs.ts';
import type { Origin } from './origin.ts';
import { ofParts, overridesAfter } from './overrides.ts';
import type { ApplicationRow } from './rows.ts';
import { changedApplicationPolicy, policyOfApplication } from './updates/policy.ts';
import { usesAfter, withoutUsed } from './uses.ts';

/** A requested change of an application. Members that are absent stay unchanged. */
export interface ApplicationChange {
  readonly operation: Extract<Operation, 'update' | 'upgrade' | 'start' | 'stop' | 'restart' | 'scale' | 'rollback'>;
  readonly message: string;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly spec?: ApplicationSpec | undefined;
  /** The application of the catalog of which the specification is a copy. */
  readonly origin?: Origin | undefined;
  readonly inputs?: Inputs | undefined;
  readonly replicas?: Readonly<Record<string, number>> | undefined;
  readonly volumes?: Wanted['volumes'] | undefined;
  /** Those of a part replace all that it had. */
  readonly overrides?: Overrides | undefined;
  /** The deployments that serve instead of parts; null: the application runs the part itself. */
  readonly use?: Readonly<Record<string, Uses[string] | null>> | undefined;
  /** Whether inputs, replicas, overrides and uses that are given replace all that the application had. */
  readonly isWhole?: boolean;
  readonly desiredState?: 'running' | 'stopped' | undefined;
  readonly onFailure?: 'auto' | 'roll_back' | 'stop' | undefined;
  readonly updates?: ApplicationUpdatesInput | undefined;
  /** The generation whose content is restored. */
  readonly restores?: number | undefined;
  /** Whether it returns from a generation that has failed. */
  readonly isReturn?: boolean;
  /** The digest of the plan that the change applies. */
  readonly expected?: string | undefined;
  /** Whether the change is made also if a generation with the same content has failed. */
  readonly force?: boolean | undefined;
}

/** A change of an application as it was decided. */
export interface DecidedChange {
  readonly before: Before;
  readonly change: ApplicationChange;
  readonly decided: DecidedApplication;
  /** The content that the generation has. */
  readonly content: Pick<Content, 'spec' | 'inputs' | 'replicas' | 'overrides' | 'uses'>;
  /** Whether nothing is to be stored, except for labels and the policy. */
  readonly isUnchanged: boolean;
}

/**
 * Decides a change of an application without writing anything. @throws 400, 404 for a generation that does not exist, 409 for
 * another change than the expected one, and for content that has failed
 */
export async function decideChange(
  context: PlanContext,
  row: ApplicationRow,
  change: ApplicationChange,
): Promise<DecidedChange> {
  const { transaction } = context;
  refuseDeleting(row);
  const present = await readBefore(transaction, row);
  const restored = change.restores === undefined ? undefined : await readContent(transaction, row.id, change.restores);
  const base = restored ?? present.content;
  const spec = change.spec ?? base.spec;
  const before = { ...present, parts: partsByName(present.parts, spec, restored) };
  const kept = keptBy(change, base);
  const uses = usesAfter(spec, kept.uses, change.use);
  const content = {
    spec,
    uses,
    inputs: inputsAfter(spec, { ...kept.inputs, ...change.inputs }),
    replicas: { ...withoutUsed(ofParts(spec, kept.replicas), uses), ...change.replicas },
    overrides: overridesAfter(spec, withoutUsed(kept.overrides, uses), change.overrides),
  };
  const updates = changedApplicationPolicy(policyOfApplication(row), change.updates);
  const wanted: Wanted = {
    name: row.name,
    ...content,
    updates,
    volumes: change.volumes ?? (await volumesOfReturning(transaction, before, restored)),
    labels: change.labels ?? row.labels,
    target: null,
    desiredState: change.desiredState ?? row.desired_state,
    origin: change.origin,
    stored:
      change.origin === undefined && isDeepStrictEqual(spec, base.spec)
        ? { id: row.id, specVersion: base.specVersion }
        : undefined,
  };
  const isNewVersion = restored === undefined && !isDeepStrictEqual(spec, before.content.spec);
  const changes = await changesOf(context, { before, change, restored, updates, isNewVersion });
  const usesBefore = present.content.uses;
  const decided = await decideApplication(context, wanted, { before, changeOf: changes, usesBefore });
  refuseOther(row, decided, change);
  await refuseFailed(context, row, decided, change);
  const isKept = decided.parts.every((part) => part.decided.kind === 'change' && part.decided.decision === undefined);
  const isUnchanged =
    isKept &&
    retiredParts(before, decided).length === 0 &&
    wanted.desiredState === row.desired_state &&
    isDeepStrictEqual(content, {
      spec: before.content.spec,
      inputs: before.content.inputs,
      replicas: before.content.replicas,
      overrides: before.content.overrides,
      uses: before.content.uses,
    });
  return { before, change, decided, content, isUnchanged };
}

function refuseDeleting({ deleting, name }: ApplicationRow): void {
  if (!deleting) return;
  throw new Problem('deployment_refused', `Nothing was changed: the application ${name} is being deleted.`);
}

/**
 * The present parts by the names that a specification gives them: as the restored generation had them, by their name, or by
 * their earlier name. The others keep their names.
 */
function partsByName(
  present: Before['parts'],
  { parts }: ApplicationSpec,
  restored: Content | undefined,
): ReadonlyMap<string, PartBefore> {
  const left = new Map(present);
  const named = new Map<string, PartBefore>();
  const take = (name: string, from: string | undefined) => {
    const found = from === undefined ? undefined : left.get(from);
    if (from === undefined || !found || named.has(name)) return;
    named.set(name, found);
    left.delete(from);
  };
  for (const { name } of parts) {
    const id = restored && Object.hasOwn(restored.parts, name) ? restored.parts[name]?.deployment_id : undefined;
    take(name, [...left].find(([, { row }]) => row.id === id)?.[0]);
  }
  for (const { name } of parts) take(name, name);
  for (const { name, was } of parts) take(name, was ?? undefined);
  return new Map([...named, ...left]);
}

/** What of a content a change completes. It replaces the other members. */
const keptBy = (
  { isWhole = false, ...change }: ApplicationChange,
  { uses, inputs, replicas, overrides }: Content,
): Pick<Content, 'uses' | 'inputs' | 'replicas' | 'overrides'> => ({
  uses: isWhole && change.use ? {} : uses,
  inputs: isWhole && change.inputs ? {} : inputs,
  replicas: isWhole && change.replicas ? {} : replicas,
  overrides: isWhole && change.overrides ? {} : overrides,
});

/** The inputs that a specification declares. */
const inputsAfter = ({ inputs }: ApplicationSpec, given: Inputs): Inputs =>
  Object.fromEntries(Object.entries(given).filter(([name]) => inputs.some((input) => input.name === name)));

/** The volumes of the parts that a restored generation has, and the application no longer has. */
async function volumesOfReturning(
  transaction: PlanContext['transaction'],
  { parts }: Before,
  restored: Content | undefined,
): Promise<Wanted['volumes']> {
  const mounts = Object.entries(restored?.parts ?? {})
    .filter(([name]) => !parts.has(name))
    .flatMap(([name, { volumes }]) =>
      Object.entries(volumes).map(([mount, id]) => ({ mount: `${name}/${mount}`, id })),
    );
  if (mounts.length === 0) return {};
  const found = await transaction.volume.findMany({
    where: { id: { in: mounts.map(({ id }) => id) } },
    select: { id: true },
  });
  const ids = new Set(found.map(({ id }) => id));
  return Object.fromEntries(
    mounts.flatMap(({ mount, id }) => (ids.has(id) ? [[mount, { storage_id: id }] as const] : [])),
  );
}

interface Changed {
  readonly before: Before;
  readonly change: ApplicationChange;
  readonly restored: Content | undefined;
  readonly updates: ApplicationUpdates;
  /** Whether it leads to another version of the application. */
  readonly isNewVersion: boolean;
}

/** The changes of the deployments that exist. */
async function changesOf(
  { transaction }: PlanContext,
  { before, change, restored, updates: { ready_seconds, deadline_seconds }, isNewVersion }: Changed,
): Promise<RequestOf> {
  const restoring = new Map<string, DeploymentChange>();
  for (const [name, part] of Object.entries(restored?.parts ?? {})) {
    const present = before.parts.get(name)?.row;
    if (present?.id !== part.deployment_id) continue;
    const found = await changeToGeneration(transaction, present, {
      generation: part.generation,
      message: change.message,
      isReturn: change.isReturn === true,
    });
    if (found) restoring.set(name, found);
  }
  return (part, request) => {
    const present = before.parts.get(part.name);
    if (!present) return undefined;
    const { operation, message } = change;
    const { labels = {} } = request;
    const common = {
      operation,
      message,
      desiredState: request.desired_state,
      ...(isDeepStrictEqual(labels, present.row.labels) ? {} : { labels }),
      ...(change.updates && { updates: { ready_seconds, deadline_seconds } }),
    };
    const restore = restoring.get(part.name);
    const wanted: DeploymentChange = restore
      ? { ...restore, ...common }
      : {
          ...common,
          ...(change.restores === undefined && {
            ...withoutHostPorts(before.content, present),
            ...contentOf(part, present, request),
          }),
          replicas: part.replicas,
          restart: operation === 'restart',
        };
    if (!isJob(part)) return { kind: 'change', before: present.row, change: wanted } satisfies Requested;
    const { desiredState, restart } = changeOfJob({
      part,
      row: present.row,
      isOther: wanted.newRevision !== undefined,
      isNewVersion,
      restores: restored && (restored.parts[part.name]?.generation ?? 0),
      whole: request.desired_state,
      isRequested: change.desiredState !== undefined,
    });
    const ofJob = { ...withoutForm(wanted), desiredState, restart: wanted.restart === true || restart };
    return { kind: 'change', before: present.row, change: ofJob } satisfies Requested;
  };
}

/** A job has no rollout whose form a return restores. */
const withoutForm = ({ restores: _, ...change }: DeploymentChange): DeploymentChange => change;

/** What a part is to run, as a change of its deployment. */
export const contentOf = (
  part: CompiledPart,
  present: PartBefore,
  request: Parameters<RequestOf>[1],
): Pick<DeploymentChange, 'newRevision' | 'recordedEnv' | 'hostPorts' | 'volumes'> => ({
  ...newRevisionOf(part, present),
  recordedEnv: part.env,
  ...(part.hostPorts && { hostPorts: part.hostPorts }),
  volumes: newMounts(present, request),
});

/** No ports of the host, if those of the part were set by overrides. A deployment that became a part keeps its own. */
const withoutHostPorts = (
  { overrides }: Content,
  { row: { part } }: PartBefore,
): Pick<DeploymentChange, 'hostPorts'> =>
  Object.hasOwn(overrides, part ?? '') && overrides[part ?? '']?.host_ports !== undefined ? { hostPorts: {} } : {};

/** A revision of the workload, if the part is to run something else. */
function newRevisionOf(part: CompiledPart, { workload, latest }: PartBefore): Pick<DeploymentChange, 'newRevision'> {
  const spec = fullSpecOf(part);
  if (isDeepStrictEqual(spec, workload.spec)) return {};
  const content = { base: withoutTemplate, overrides: part.spec, isDescribed: true };
  return {
    newRevision: { content, workload: revisionOf(content, { workloadId: workload.workloadId, revision: latest + 1 }) },
  };
}

/** The volumes of mounts that the part did not have. Others keep their volumes. */
const newMounts = ({ row }: PartBefore, { volumes }: Parameters<RequestOf>[1]): DeploymentChange['volumes'] =>
  Object.fromEntries(Object.entries(volumes).filter(([mount]) => !Object.hasOwn(row.volumes, mount)));

/** @throws 409 if the change is not the one that was planned */
function refuseOther({ name }: ApplicationRow, { digest }: DecidedApplication, { expected }: ApplicationChange): void {
  if (expected === undefined || expected === digest) return;
  const detail = `Nothing was changed: the application ${name}, one of its parts or the request has changed since the plan was made. Make a new plan.`;
  throw new Problem('plan_outdated', detail);
}

/** @throws 409 if a generation with the same content has failed */
async function refuseFailed(
  { transaction }: PlanContext,
  { id, name }: ApplicationRow,
  { fingerprint }: DecidedApplication,
  { operation, force = false }: ApplicationChange,
): Promise<void> {
  if (!['update', 'upgrade'].includes(operation) || force) return;
  const failed = await transaction.applicationGeneration.findFirst({
    where: { application_id: id, fingerprint, outcome: 'failed' },
    orderBy: { generation: 'desc' },
  });
  if (!failed) return;
  const detail = `Nothing was changed: generation ${failed.generation} of the application ${name} with the same content has failed (${failed.outcome_reason}). Force the change, or change something else.`;
  throw new Problem('update_held', detail);
}

/** The generation to roll back to: the given one, or the last one that was good before the present one. @throws 404, 409 */
export async function generationToRestore(
  { transaction }: Pick<PlanContext, 'transaction'>,
  { id, generation, name }: ApplicationRow,
  requested: number | undefined,
): Promise<number> {
  if (requested !== undefined) {
    if (requested >= generation) throw notFound();
    return requested;
  }
  const found = await transaction.applicationGeneration.findFirst({
    where: { application_id: id, generation: { lt: generation }, outcome: 'good' },
    orderBy: { generation: 'desc' },
  });
  if (found) return found.generation;
  const detail = `Nothing was changed: no earlier generation of the application ${name} is known to be good.`;
  throw new Problem('nothing_to_restore', detail);
}

/** @throws 409 if a part that is not made for several instances is to have some */
export async function refuseNotScalable(
  transaction: PlanContext['transaction'],
  { id, name, generation }: ApplicationRow,
  replicas: Readonly<Record<string, number>>,
): Promise<void> {
  const { spec } = await readContent(transaction, id, generation);
  const refused = spec.parts.find((part) => !part.scalable && (replicas[part.name] ?? 1) > 1);
  if (!refused) return;
  const detail = `Nothing was changed: the part ${refused.name} of the application ${name} is not made for several instances.`;
  throw new Problem('not_scalable', detail);
}

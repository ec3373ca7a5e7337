import { isDeepStrictEqual } from 'node:util';
import type { Reply } from '@svc/contract';
import type {
  Autoscaling,
  EnvRequest,
  fleetEndpoints,
  GeneratedValue,
  Scaler,
  UpdatesInput,
} from '@svc/contract/fleet';
import type { Sealer } from '@svc/database';
import { invalid, type Matches, Problem, pickDefined } from '@svc/http';
import { Prisma } from '../generated/prisma/client.ts';
import { authorOf } from '../identity/actor.ts';
import type { Changer } from '../identity/principal.ts';
import { columnsOfLimits, type DefaultLimits } from '../render/defaults.ts';
import { type StoredEnv, storedEnv } from '../render/env.ts';
import { lockRow, nextVersion, readRow } from '../resources/kind.ts';
import { acquirePlacementLock } from '../resources/placement-lock.ts';
import { insertRevision } from '../resources/workloads.ts';
import { storeAddresses } from './addresses/dependents.ts';
import { bindingsOf, readDependents, sealedIdOf } from './bindings.ts';
import { type Decision, type DecisionContext, decide } from './decision.ts';
import {
  changedDraft,
  type Draft,
  type DraftContext,
  isUnchanged,
  type NewWorkload,
  readWorkloadRevision,
  refuseExcessiveSize,
  restoredDraft,
} from './draft.ts';
import { acceptEnv, isSameEnv } from './env.ts';
import { type Author, DUE_NOW, type Operation, PENDING, recordGeneration, restartForSecret } from './generations.ts';
import { storedHostPorts } from './host-ports/stored.ts';
import { admit } from './networks/admission.ts';
import { pendingRevisions } from './plans/pending.ts';
import type { WorkloadRevision } from './plans/revision.ts';
import { type Refusal, refusalsOfDeletion, refusalsOfPart, refuse, refuseManaged } from './refusals.ts';
import { type DeploymentRow, deployments, presentDeployment } from './rows.ts';
import { scalingAfter } from './scaling/scaling.ts';
import { allocate, allocationOf } from './store.ts';
import { recordAcknowledged } from './templates/advice.ts';
import { digestOfPlan, failedBefore, fingerprintOf } from './updates/digest.ts';
import { changedPolicy, policyOf } from './updates/policy.ts';
import type { Restored } from './updates/restored.ts';
import { newRollout } from './updates/rollout.ts';
import { generateValues } from './values/generate.ts';

/** What a change of a deployment needs of its request. */
export interface DeploymentContext extends Author, DecisionContext {
  readonly principal: Changer;
  readonly settings: { readonly sealer: Sealer };
  readonly defaultLimits: DefaultLimits;
  /** The audit entry of the request; absent if nobody makes the change. */
  readonly recording?: { acknowledged: string[] };
  /** Other deployments to which the same request gives a new generation. Default: none. */
  readonly alsoChanged?: ReadonlySet<string>;
  /** The versions of the deployment that the request permits. @throws 400 */
  readonly ifMatch: () => Matches;
}

/** The values that a change generates are for its response only. */
type DeploymentReply = Reply<typeof fleetEndpoints.updateDeployment>;

/** A revision of a workload that is stored with the change that deploys it. */
interface NewRevision {
  readonly workload: WorkloadRevision;
  readonly content: NewWorkload;
}

/** A requested change of a deployment. Members that are absent stay unchanged. */
export interface DeploymentChange {
  readonly operation: Operation;
  readonly message: string;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly revision?: number | undefined;
  /** The revision that it deploys, if it is not stored yet. */
  readonly newRevision?: NewRevision | undefined;
  readonly replicas?: number | undefined;
  readonly autoscaling?: Autoscaling | null | undefined;
  readonly scaledBy?: Scaler | undefined;
  readonly env?: EnvRequest | undefined;
  readonly hostPorts?: Draft['hostPorts'] | undefined;
  /** The variables of a recorded generation. */
  readonly recordedEnv?: StoredEnv;
  readonly volumes?: Draft['volumes'] | undefined;
  readonly acceptedLosses?: Draft['acceptedLosses'] | undefined;
  readonly acknowledged?: Draft['acknowledged'] | undefined;
  readonly desiredState?: Draft['desiredState'] | undefined;
  readonly pull?: Draft['pull'] | undefined;
  /** The digest of the image that the change requests; null: what the workload names. By default, the deployment keeps its one. */
  readonly imageDigest?: string | null | undefined;
  /** Whether to restart all replicas, even if nothing else changes. */
  readonly restart?: boolean;
  /** Whether to take over fields that other field managers own. */
  readonly takeOver?: boolean | undefined;
  /**
   * Whether the change is a rollback, to a revision that was permitted for this deployment before.
   */
  readonly isRollback?: boolean;
  /** The digest of the plan that the change applies. */
  readonly expected?: string;
  /** Whether the change is made also if a generation with the same configuration has failed. */
  readonly force?: boolean | undefined;
  readonly updates?: UpdatesInput | undefined;
  /** What a return to the last good generation restores. */
  readonly restores?: Restored;
  /** Whether the change starts a deployment that was not in the database, so that it has no rights from before. */
  readonly isAdoption?: boolean;
}

/** A requested change with the draft to which it leads. */
export interface RequestedChange {
  readonly before: DeploymentRow;
  readonly change: DeploymentChange;
  readonly draft: Draft;
  readonly handover: DeploymentRow['handover'];
  /** Whether the deployment matches already. */
  readonly isUnchanged: boolean;
}

/** A change as it was decided. */
export interface DecidedChange extends RequestedChange {
  readonly kind: 'change';
  readonly refusals: readonly Refusal[];
  /** Undefined if nothing is to be decided: the deployment matches already, or cannot be changed. */
  readonly decision: Decision | undefined;
}

/**
 * The draft to which a requested change leads. @throws 400 for invalid variables, and if all replicas
 * together are too large; 422 for a revision that does not exist
 */
export async function requestedChange(
  { transaction, defaultLimits, pending }: DraftContext,
  before: DeploymentRow,
  change: DeploymentChange,
): Promise<RequestedChange> {
  const revisions = pending && pendingRevisions(pending);
  const revision = change.revision ?? before.revision;
  const workload =
    change.newRevision?.workload ?? (await readWorkloadRevision(transaction, before.workload_id, revision, revisions));
  const isNewRevision = workload.revision !== before.revision && !change.isRollback;
  const env = change.env ? acceptEnv(change.env, { ...workload, before: before.env }) : change.recordedEnv;
  const { handover, ...scaling } = scalingAfter(before, change);
  const changed = {
    ...(env && { env }),
    ...(change.updates && { updates: changedPolicy(policyOf(before), change.updates) }),
    ...scaling,
    ...pickDefined(change, [
      'labels',
      'hostPorts',
      'volumes',
      'acceptedLosses',
      'acknowledged',
      'desiredState',
      'pull',
      'imageDigest',
      'restart',
    ]),
    ...(change.isAdoption && { before: null }),
  };
  const { restores } = change;
  const draftChanges = { workload, isNewRevision, ...changed };
  const draft = restores?.form
    ? restoredDraft(before, draftChanges, restores.form)
    : changedDraft(before, draftChanges, defaultLimits);
  refuseExcessiveSize(draft, before);
  const isRequested = change.restart === true || change.takeOver === true;
  return { before, change, draft, handover, isUnchanged: !isRequested && isUnchanged(before, draft) };
}

/**
 * Decides a change without writing anything. @throws 400, 409 for another change than the expected
 * one, 422 for a revision that does not exist or that this fleet does not support
 */
export async function decideChange(
  context: DecisionContext & DraftContext,
  before: DeploymentRow,
  change: DeploymentChange,
): Promise<DecidedChange> {
  const requested = await requestedChange(context, before, change);
  const refusals = [...refusalsOfDeletion(before), ...(context.ofParts ? [] : refusalsOfPart(before))];
  refuseTakeOver(before, change);
  refuseOtherPlan(before, requested.draft, change.expected);
  if (refusals.length > 0 || requested.isUnchanged)
    return { kind: 'change', ...requested, refusals, decision: undefined };
  const decision = await decide(context, requested.draft);
  const isChecked = change.expected !== undefined && change.force !== true;
  if (isChecked && decision.refusals.length === 0)
    await refuseFailed(context.transaction, before, fingerprintOf(decision));
  return { kind: 'change', ...requested, refusals: decision.refusals, decision };
}

/**
 * Stores a change that was decided under the placement lock, and not refused. `alsoChanged` are the
 * deployments that the same plan changes itself.
 * @returns the values that it generated
 */
export async function storeChange(
  context: DeploymentContext,
  decided: DecidedChange,
  alsoChanged: ReadonlySet<string> = new Set(),
): Promise<GeneratedValue[]> {
  const { transaction, principal } = context;
  const { before, change, handover, decision } = decided;
  const { id } = before;
  const stored = {
    ...pickDefined(change, ['labels', 'pull']),
    ...(change.updates && { updates: decided.draft.updates }),
  };
  if (decision === undefined) {
    await recordAcknowledged(context, decided.draft);
    if (Object.keys(stored).length > 0) await update(transaction, id, { ...stored, ...dueForPass(before, change) });
    return [];
  }
  const { draft } = decision;
  const { workload } = draft;
  const { restores } = change;
  if (change.newRevision) await storeRevision(transaction, change.newRevision, authorOf(principal));
  await update(transaction, id, {
    ...stored,
    revision: workload.revision,
    replicas: draft.replicas,
    autoscaling: draft.autoscaling === null ? Prisma.DbNull : { ...draft.autoscaling },
    scaled_by: draft.scaledBy,
    handover,
    env: { ...draft.env },
    host_ports: { ...draft.hostPorts },
    bindings: bindingsOf(draft.env),
    desired_state: draft.desiredState,
    requested_digest: draft.imageDigest,
    defaults_version: draft.defaultsVersion,
    ...columnsOfLimits(draft.defaultLimits),
    pod_settings: draft.podSettings ?? Prisma.DbNull,
    ...(change.restart ? { restarted_at: new Date() } : {}),
    ...(requestsPull(before, draft, change) && { pull_requested: true }),
    ...(restores && restoredColumns(before, restores)),
    ...allocationOf(decision),
    extra_instances: decision.extra.instances,
    ...(draft.desiredState === 'running' ? PENDING : before.sent_to_engine ? STOPPING : STOPPED),
    ...DUE_NOW,
    take_over: change.takeOver === true,
    generation: { increment: 1 },
  });
  await recordAcknowledged(context, draft);
  await allocate(transaction, [decision], authorOf(principal));
  await admit(transaction, [decision]);
  const generated = await generateValues(transaction, context.settings.sealer, draft);
  const { operation, message } = change;
  await recordGeneration(context, { id, operation, message, fingerprint: fingerprintOf(decision) });
  await restartDependents(context, { before, env: draft.env, alsoChanged });
  return generated;
}

/** Stores the revision that a change deploys, unless an earlier change has stored it. */
async function storeRevision(
  transaction: Prisma.TransactionClient,
  { workload: { workloadId, revision }, content }: NewRevision,
  author: string,
): Promise<void> {
  const where = { id: workloadId, revision: { lt: revision } };
  const { count } = await transaction.workload.updateMany({ where, data: { revision, ...nextVersion() } });
  if (count > 0) await insertRevision(transaction, { workloadId, revision, ...content, author });
}

/**
 * Changes a deployment and increments its generation. Does nothing if the deployment already
 * matches. `ofParts`: also a part of an application that runs can be changed so. @throws 400, 404, 409 for another change than the
 * expected one, and for a part of an application, 412, 422
 */
export async function changeDeployment(
  context: DeploymentContext,
  id: string,
  requestChange: (before: DeploymentRow) => DeploymentChange | Promise<DeploymentChange>,
  { ofParts = false }: Pick<DecisionContext, 'ofParts'> = {},
): Promise<DeploymentReply> {
  const { transaction, defaultLimits, ifMatch } = context;
  await acquirePlacementLock(transaction);
  const before = await lockRow(transaction, deployments, { id, ifMatch });
  if (!ofParts || before.desired_state === 'stopped') refuseManaged(before);
  const decided = await decideChange({ ...context, ofParts }, before, await requestChange(before));
  refuse(decided.refusals);
  const generated = await storeChange(context, decided);
  return { deployment: presentDeployment(await readRow(transaction, deployments, id), defaultLimits), generated };
}

/** @throws 409 if the change is not the one that was planned */
function refuseOtherPlan(before: DeploymentRow, requested: Draft, expected: string | undefined): void {
  if (expected === undefined || digestOfPlan(before, requested) === expected) return;
  const detail = `Nothing was changed: the deployment ${before.name}, its template or the request has changed since the plan was made. Make a new plan.`;
  throw new Problem('plan_outdated', detail);
}

/** @throws 409 if a generation with the same configuration has failed */
async function refuseFailed(
  transaction: Prisma.TransactionClient,
  { id, name }: DeploymentRow,
  fingerprint: string,
): Promise<void> {
  const failed = await failedBefore(transaction, id, fingerprint);
  if (failed)
    throw new Problem(
      'update_held',
      `Nothing was changed: ${failed.message} Force the update of ${name}, or wait for another one.`,
    );
}

/** What a return restores in the row. The image that is known needs no pull. */
const restoredColumns = (
  { generation }: DeploymentRow,
  { failedGeneration, restartedAt, hostImage }: Restored,
): Prisma.DeploymentUncheckedUpdateInput => ({
  rollout: newRollout(generation + 1, failedGeneration),
  rollout_elapsed_ms: 0,
  rollout_observed_at: null,
  restarted_at: restartedAt,
  ...(hostImage && { host_image: hostImage, pull_requested: false }),
});

/**
 * The next pass applies another policy to the rollout in progress, and on a cluster to its objects, as well as other labels. They
 * replace no instance.
 */
const dueForPass = ({ cluster_id }: DeploymentRow, { labels, updates }: DeploymentChange) =>
  updates !== undefined || (labels !== undefined && cluster_id !== null) ? { due_at: new Date(0) } : {};

interface ChangedValues {
  readonly before: DeploymentRow;
  readonly env: StoredEnv;
  /** Deployments with a change of their own. */
  readonly alsoChanged: ReadonlySet<string>;
}

/** Starts a new generation of the deployments that are bound to a value or an address that changed. */
async function restartDependents(
  context: DeploymentContext,
  { before, env, alsoChanged }: ChangedValues,
): Promise<void> {
  const { transaction } = context;
  const dependents = await readDependents(transaction, before);
  const isChanged = (variable: string | null) =>
    variable !== null && sealedIdOf(env[variable]) !== sealedIdOf(before.env[variable]);
  const idsOf = (bound: typeof dependents) => [...new Set(bound.map(({ id }) => id))];
  const withAddress = await storeAddresses(
    transaction,
    before.name,
    idsOf(dependents.filter(({ port }) => port !== null)),
  );
  const withValue = idsOf(dependents.filter(({ variable }) => isChanged(variable)));
  for (const id of new Set([...withValue, ...withAddress])) {
    if (alsoChanged.has(id)) continue;
    const what = withValue.includes(id) ? 'a generated value' : 'an address';
    await restartForSecret(context, { id, message: `${what} of the deployment ${before.name} changed` });
  }
}

/** Whether the change requests that the image is pulled: a restart, a start, another revision, or another digest. */
const requestsPull = (
  before: DeploymentRow,
  { desiredState, workload, imageDigest }: Draft,
  { restart }: DeploymentChange,
): boolean =>
  desiredState === 'running' &&
  (restart === true ||
    before.desired_state === 'stopped' ||
    workload.revision !== before.revision ||
    imageDigest !== before.requested_digest);

/** @throws 400 for a deployment on a host, whose objects have no field managers */
function refuseTakeOver({ cluster_id }: DeploymentRow, { takeOver }: DeploymentChange): void {
  if (!takeOver || cluster_id !== null) return;
  throw invalid([{ path: 'take_over', message: 'must be used only for deployments on a cluster' }]);
}

/** For a deployment whose objects an engine may have. */
const STOPPING = { phase: 'stopping', reason: null, message: '' } as const;

/** For a deployment that no engine has received, so that nothing must be removed. */
const STOPPED = { phase: 'stopped', reason: null, message: '' } as const;

const update = (transaction: Prisma.TransactionClient, id: string, data: Prisma.DeploymentUncheckedUpdateInput) =>
  transaction.deployment.update({ where: { id }, data: { ...data, ...nextVersion() } });

/**
 * The recorded generation to roll back to: the given one, or by default the latest one that differs
 * from the current state.
 */
export async function generationToRestore(
  transaction: Prisma.TransactionClient,
  before: DeploymentRow,
  requested: number | undefined,
) {
  const generation = requested === undefined ? { lt: before.generation } : Math.min(requested, before.generation + 1);
  const revisions = await transaction.deploymentRevision.findMany({
    where: { deployment_id: before.id, generation },
    orderBy: { generation: 'desc' },
  });
  const found = requested === undefined ? revisions.find((revision) => !isCurrent(before, revision)) : revisions[0];
  if (found) return { ...found, env: storedEnv.parse(found.env), hostPorts: storedHostPorts.parse(found.host_ports) };
  if (requested === undefined)
    throw new Problem(
      'deployment_refused',
      'There is nothing to roll back to, because no previous generation differs from the current one.',
    );
  throw invalid([
    { path: 'generation', message: `must be a generation of the deployment, from 1 to ${before.generation}` },
  ]);
}

interface Generation {
  readonly revision: number;
  readonly replicas: number;
  readonly env: unknown;
  readonly host_ports: unknown;
  readonly image_digest: string | null;
  readonly requested_digest: string | null;
}

const isCurrent = (before: DeploymentRow, stored: Generation): boolean =>
  stored.revision === before.revision &&
  stored.replicas === before.replicas &&
  isSameEnv(storedEnv.parse(stored.env), before.env) &&
  isDeepStrictEqual(stored.host_ports, before.host_ports) &&
  digestToRestore(before, stored) === undefined;

/**
 * The digest that a rollback to a generation requests: what it ran. undefined: it ran the same image, that is not known, or a
 * cluster selects the image.
 */
export function digestToRestore(
  { host_id, requested_digest, host_digest }: DeploymentRow,
  stored: Pick<Generation, 'image_digest' | 'requested_digest'>,
): string | undefined {
  const ran = stored.image_digest ?? stored.requested_digest;
  const runs = requested_digest ?? host_digest;
  return host_id === null || ran === null || runs === null || ran === runs ? undefined : ran;
}

import type { Reply } from '@svc/contract';
import type {
  Autoscaling,
  EnvRequest,
  fleetEndpoints,
  GeneratedValue,
  Scaler,
  UpdatesInput,
} from '@svc/contract/fleet';
import { invalid, type Matches, Problem, pickDefined } from '@svc/http';
import type { Sealer } from '../database/sealing.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { authorOf } from '../identity/actor.ts';
import { columnsOfLimits, type DefaultLimits } from '../render/defaults.ts';
import { type StoredEnv, storedEnv } from '../render/env.ts';
import { lockRow, nextVersion, readRow } from '../resources/kind.ts';
import { acquirePlacementLock } from '../resources/placement-lock.ts';
import { bindingsOf, readDependents, sealedIdOf } from './bindings.ts';
import { type DecisionContext, decide } from './decision.ts';
import {
  changedDraft,
  type Draft,
  isUnchanged,
  readWorkloadRevision,
  refuseExcessiveSize,
  restoredDraft,
} from './draft.ts';
import { acceptEnv, isSameEnv } from './env.ts';
import { type Author, DUE_NOW, type Operation, PENDING, recordGeneration, restartForSecret } from './generations.ts';
import { refusalsOfDeletion, refuse } from './refusals.ts';
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
  readonly settings: { readonly sealer: Sealer };
  readonly defaultLimits: DefaultLimits;
  /** The audit entry of the request; absent if nobody makes the change. */
  readonly recording?: { acknowledged: string[] };
  /** The versions of the deployment that the request permits. @throws 400 */
  readonly ifMatch: () => Matches;
}

/** The values that a change generates are for its response only. */
type DeploymentReply = Reply<typeof fleetEndpoints.updateDeployment>;

/** A requested change of a deployment. Members that are absent stay unchanged. */
export interface DeploymentChange {
  readonly operation: Operation;
  readonly message: string;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly revision?: number | undefined;
  readonly replicas?: number | undefined;
  readonly autoscaling?: Autoscaling | null | undefined;
  readonly scaledBy?: Scaler | undefined;
  readonly env?: EnvRequest | undefined;
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

/**
 * Changes a deployment and increments its generation. Does nothing if the deployment already
 * matches. @throws 400, 404, 409 for another change than the expected one, 412, 422
 */
export async function changeDeployment(
  context: DeploymentContext,
  id: string,
  requestChange: (before: DeploymentRow) => DeploymentChange | Promise<DeploymentChange>,
): Promise<DeploymentReply> {
  const { transaction, principal, ifMatch } = context;
  await acquirePlacementLock(transaction);
  const before = await lockRow(transaction, deployments, { id, ifMatch });
  const change = await requestChange(before);
  const workload = await readWorkloadRevision(transaction, before.workload_id, change.revision ?? before.revision);
  const isNewRevision = workload.revision !== before.revision && !change.isRollback;
  const env = change.env ? acceptEnv(change.env, { ...workload, before: before.env }) : change.recordedEnv;
  const { handover, ...scaling } = scalingAfter(before, change);
  const updates = change.updates && changedPolicy(policyOf(before), change.updates);
  const changed = {
    ...(env && { env }),
    ...(updates && { updates }),
    ...scaling,
    ...pickDefined(change, [
      'labels',
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
  const requested = restores?.form
    ? restoredDraft(before, draftChanges, restores.form)
    : changedDraft(before, draftChanges, context.defaultLimits);
  const stored = { ...pickDefined(change, ['labels', 'pull']), ...(updates && { updates }) };
  refuse(refusalsOfDeletion(before));
  refuseTakeOver(before, change);
  refuseOtherPlan(before, requested, change.expected);
  if (!change.restart && !change.takeOver && isUnchanged(before, requested)) {
    await recordAcknowledged(context, requested);
    if (Object.keys(stored).length > 0) await update(transaction, id, { ...stored, ...dueForPass(before, change) });
    return present(context, id, []);
  }
  refuseExcessiveSize(requested, before);
  const decision = await decide(context, requested);
  refuse(decision.refusals);
  const { draft } = decision;
  const fingerprint = fingerprintOf(decision);
  if (change.expected !== undefined && change.force !== true) await refuseFailed(transaction, before, fingerprint);
  await update(transaction, id, {
    ...stored,
    revision: workload.revision,
    replicas: draft.replicas,
    autoscaling: draft.autoscaling === null ? Prisma.DbNull : { ...draft.autoscaling },
    scaled_by: draft.scaledBy,
    handover,
    env: { ...draft.env },
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
  await allocate(transaction, decision, authorOf(principal));
  const generated = await generateValues(transaction, context.settings.sealer, draft);
  await recordGeneration(context, { id, operation: change.operation, message: change.message, fingerprint });
  await restartDependents(context, before, draft.env);
  return present(context, id, generated);
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

/** Starts a new generation of the deployments that are bound to a value that changed. */
async function restartDependents(context: DeploymentContext, before: DeploymentRow, env: StoredEnv): Promise<void> {
  const isChanged = (variable: string) => sealedIdOf(env[variable]) !== sealedIdOf(before.env[variable]);
  if (!Object.keys({ ...before.env, ...env }).some(isChanged)) return;
  const dependents = (await readDependents(context.transaction, before)).filter(({ variable }) => isChanged(variable));
  const ids = new Set(dependents.map((dependent) => dependent.id));
  const message = `a generated value of the deployment ${before.name} changed`;
  for (const id of ids) await restartForSecret(context, { id, message });
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

const present = async (
  { transaction, defaultLimits }: DeploymentContext,
  id: string,
  generated: GeneratedValue[],
): Promise<DeploymentReply> => ({
  deployment: presentDeployment(await readRow(transaction, deployments, id), defaultLimits),
  generated,
});

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
  if (found) return { ...found, env: storedEnv.parse(found.env) };
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
  readonly image_digest: string | null;
  readonly requested_digest: string | null;
}

const isCurrent = (before: DeploymentRow, stored: Generation): boolean =>
  stored.revision === before.revision &&
  stored.replicas === before.replicas &&
  isSameEnv(storedEnv.parse(stored.env), before.env) &&
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

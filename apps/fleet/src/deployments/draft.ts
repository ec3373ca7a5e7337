import { isDeepStrictEqual } from 'node:util';
import { registryInName, withoutOldDigest } from '@svc/contract';
import {
  type Autoscaling,
  type EnvRequest,
  NEW_UPDATES,
  type NewDeployment,
  type Scaler,
  type Target,
  type Updates,
  type UpdatesInput,
} from '@svc/contract/fleet';
import { invalid, Problem } from '@svc/http';
import { v7 as uuidv7 } from 'uuid';
import type { Prisma } from '../generated/prisma/client.ts';
import { isSameSize } from '../placement/quantities.ts';
import { CURRENT_DEFAULTS, type DefaultLimits, limitsOfColumns } from '../render/defaults.ts';
import { resolveEnv, type StoredEnv } from '../render/env.ts';
import { pullPolicyOf } from '../render/image.ts';
import { type PodSettings, podLabels } from '../render/pod-settings.ts';
import type { Membership, Pull } from '../render/rendering.ts';
import { refuseFieldErrors } from '../resources/field-errors.ts';
import { targetOf } from '../resources/targets.ts';
import {
  type RevisionBase,
  type StoredSpec,
  secretNamesOf,
  secretTextErrors,
  secretVariablesOf,
  specMembersOf,
  templateBase,
  withoutTemplate,
} from '../resources/workloads.ts';
import { acceptEnv, isSameEnv, withoutInlineValues } from './env.ts';
import type { HostPorts } from './host-ports/stored.ts';
import { applicationOf } from './networks/membership.ts';
import { type Pending, pendingRevisions } from './plans/pending.ts';
import { revisionColumns, revisionRow, type WorkloadRevision, workloadRevisionOf } from './plans/revision.ts';
import type { DeploymentRow } from './rows.ts';
import { countedReplicas } from './scaling/scaling.ts';
import { changedPolicy, policyOf } from './updates/policy.ts';

/** The volume that a mount requests: an existing one by its id, or a new one with a size. */
export interface VolumeRequest {
  readonly size?: string | undefined;
  readonly storage_id?: string | undefined;
  /** The id of a new volume that several parts of an application share. */
  readonly shared_id?: string | undefined;
}

/**
 * A requested deployment, or a deployment with its requested changes, before the decision whether
 * it is accepted.
 */
export interface Draft {
  readonly id: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly workload: WorkloadRevision;
  /**
   * Whether the request selects a revision. The tier of the organization is checked only then:
   * running deployments continue.
   */
  readonly isNewRevision: boolean;
  readonly replicas: number;
  readonly autoscaling: Autoscaling | null;
  readonly scaledBy: Scaler;
  readonly env: StoredEnv;
  readonly hostPorts: HostPorts;
  readonly volumes: Readonly<Record<string, VolumeRequest>>;
  /** The mounts whose lost volumes the request replaces. */
  readonly acceptedLosses: readonly string[];
  /** The ids of the advisories that the request acknowledges. */
  readonly acknowledged: readonly string[];
  readonly target: Target | null;
  /** The application of which it is a part; null: none. */
  readonly application: Membership | null;
  readonly desiredState: 'running' | 'stopped';
  readonly pull: Pull;
  /** The digest of the image that it requests, whatever the tag of its workload names; null: what its workload names. */
  readonly imageDigest: string | null;
  /** How updates replace its instances. */
  readonly updates: Updates;
  /** The version of the defaults with which its instances are rendered. */
  readonly defaultsVersion: number;
  /** The default limits with which its instances are rendered. */
  readonly defaultLimits: DefaultLimits;
  /**
   * The settings of its cluster with which its pods are rendered; null: none. A decision determines
   * those of a change that replaces the instances.
   */
  readonly podSettings: PodSettings | null;
  /** Whether the change replaces all instances, so that their form can change. */
  readonly replacesInstances: boolean;
  /** Whether the change restores an earlier form of the instances, with the settings that its cluster had then. */
  readonly keepsForm: boolean;
  /**
   * The deployment before the change, whose uses of secrets continue, whatever the secrets permit now;
   * null for a new or adopted deployment.
   */
  readonly before: Pick<DeploymentRow, 'revision' | 'env' | 'desired_state' | 'host_ports'> | null;
  /** The kinds of resources that the request creates with the name of the draft. */
  readonly creates: readonly ('deployment' | 'workload')[];
}

/**
 * The members of a request for a new deployment that affect what runs. A plan can omit the name.
 */
export interface NewDeploymentRequest
  extends Pick<NewDeployment, 'target' | 'replicas' | 'autoscaling' | 'scaled_by' | 'desired_state' | 'pull' | 'spec'> {
  readonly volumes: Readonly<Record<string, VolumeRequest>>;
  readonly updates?: UpdatesInput | undefined;
  readonly env: EnvRequest;
  readonly host_ports?: HostPorts | undefined;
  /** The variables of a part of an application, which replace `env`. */
  readonly recordedEnv?: StoredEnv;
  /** The application of which it is a part, whose target exists. */
  readonly membership?: Membership;
  readonly name?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly template?: string | undefined;
  readonly workload_id?: string | undefined;
  readonly revision?: number | undefined;
  readonly acknowledge?: readonly string[] | undefined;
}

/** What a draft is made from. */
export interface DraftContext {
  readonly transaction: Prisma.TransactionClient;
  readonly defaultLimits: DefaultLimits;
  /** What earlier changes of the same plan would store. Default: nothing. */
  readonly pending?: Pending;
}

/** The content of a workload that is created with its deployment. */
export interface NewWorkload {
  readonly base: RevisionBase;
  readonly overrides: Partial<StoredSpec>;
  /** Whether the request of the deployment describes it. */
  readonly isDescribed?: boolean;
}

/**
 * A new deployment of an existing workload, of a template, or of what the request describes. Except
 * for an existing workload, `created` is the workload that is to be created. @throws 422 if the
 * workload, the revision or the template does not exist, 400 if all replicas together are too
 * large, for text of a secret variable, or for members of `spec` that contradict each other
 */
export async function newDraft(
  { transaction, defaultLimits, pending }: DraftContext,
  request: NewDeploymentRequest,
): Promise<{ readonly draft: Draft; readonly created: NewWorkload | undefined }> {
  const { workload_id = '', revision, target, replicas, autoscaling, scaled_by, volumes } = request;
  const created = await newWorkloadOf(transaction, request);
  const workload = created
    ? revisionOf(created, { workloadId: uuidv7(), revision: 1 })
    : await readWorkloadRevision(transaction, workload_id, revision, pending && pendingRevisions(pending));
  const env = request.recordedEnv ?? acceptEnv(request.env, { ...workload, before: {} });
  const draft: Draft = {
    id: uuidv7(),
    name: request.name ?? UNNAMED,
    labels: request.labels ?? {},
    workload,
    isNewRevision: true,
    replicas,
    autoscaling,
    scaledBy: scaled_by,
    env,
    hostPorts: request.host_ports ?? {},
    volumes,
    acceptedLosses: [],
    acknowledged: request.acknowledge ?? [],
    target,
    application: request.membership ?? null,
    desiredState: request.desired_state,
    pull: request.pull,
    imageDigest: null,
    updates: changedPolicy(NEW_UPDATES, request.updates),
    defaultsVersion: CURRENT_DEFAULTS,
    defaultLimits,
    podSettings: null,
    replacesInstances: true,
    keepsForm: false,
    before: null,
    creates: request.name === undefined ? [] : created ? ['deployment', 'workload'] : ['deployment'],
  };
  refuseExcessiveSize(draft);
  return { draft, created };
}

/** The workload that a request creates; undefined if it names an existing one. */
async function newWorkloadOf(
  transaction: Prisma.TransactionClient,
  { template, spec }: NewDeploymentRequest,
): Promise<NewWorkload | undefined> {
  if (template !== undefined) return { base: await templateBase(transaction, template), overrides: {} };
  return spec === undefined ? undefined : describedWorkload(spec);
}

/**
 * The content of a workload that a request describes. @throws 400 for text of a secret variable, and for members that contradict
 * each other
 */
export function describedWorkload(spec: NonNullable<NewDeploymentRequest['spec']>): NewWorkload {
  const overrides = withoutOldDigest(specMembersOf(spec));
  const described = { ...withoutTemplate.spec, ...overrides };
  const errors = [...secretTextErrors(described.env, secretVariablesOf(described)), ...registryInName(described)];
  refuseFieldErrors(errors.map(({ path, message }) => ({ path: `spec.${path}`, message })));
  return { base: withoutTemplate, overrides, isDescribed: true };
}

/** The name of a deployment in a plan that omits it. */
const UNNAMED = 'planned';

interface DraftChanges
  extends Partial<
    Pick<
      Draft,
      | 'labels'
      | 'isNewRevision'
      | 'replicas'
      | 'autoscaling'
      | 'scaledBy'
      | 'env'
      | 'hostPorts'
      | 'volumes'
      | 'acceptedLosses'
      | 'acknowledged'
      | 'desiredState'
      | 'pull'
      | 'imageDigest'
      | 'updates'
      | 'before'
    >
  > {
  readonly workload: WorkloadRevision;
}

/** The columns of a deployment that a draft of it has. */
export type StoredDraft = Pick<
  DeploymentRow,
  | 'id'
  | 'name'
  | 'labels'
  | 'revision'
  | 'replicas'
  | 'autoscaling'
  | 'scaled_by'
  | 'env'
  | 'host_ports'
  | 'host_id'
  | 'cluster_id'
  | 'desired_state'
  | 'pull'
  | 'requested_digest'
  | 'updates'
  | 'defaults_version'
  | 'default_memory_bytes'
  | 'default_processes'
  | 'pod_settings'
> &
  Partial<Pick<DeploymentRow, 'application_id' | 'part'>>;

/** An existing deployment with the requested changes. It keeps its target. */
export const draftOf = (row: StoredDraft, changes: DraftChanges): Draft => ({
  id: row.id,
  name: row.name,
  labels: row.labels,
  isNewRevision: false,
  replicas: row.replicas,
  autoscaling: row.autoscaling,
  scaledBy: row.scaled_by,
  env: row.env,
  hostPorts: row.host_ports,
  volumes: {},
  acceptedLosses: [],
  acknowledged: [],
  target: targetOf(row),
  application: applicationOf(row),
  desiredState: row.desired_state,
  pull: row.pull,
  imageDigest: row.requested_digest,
  updates: policyOf(row),
  defaultsVersion: row.defaults_version,
  defaultLimits: limitsOfColumns(row),
  podSettings: row.pod_settings,
  replacesInstances: false,
  keepsForm: false,
  before: row,
  creates: [],
  ...changes,
});

/**
 * A draft of a change. A change that replaces the instances renders them with the current defaults.
 * Any other change keeps the defaults, so that scaling does not replace existing instances.
 */
export const changedDraft = (
  row: DeploymentRow,
  changes: DraftChanges & { readonly restart?: boolean },
  defaultLimits: DefaultLimits,
): Draft => {
  const { restart = false, ...rest } = changes;
  const changed = draftOf(row, rest);
  const { imageDigest = digestAfter(row, changed, restart) } = changes;
  const draft = { ...changed, imageDigest };
  if (!restart && keepsInstances(row, draft)) return { ...draft, env: row.env };
  return {
    ...draft,
    env: withoutInlineValues(draft.env),
    defaultsVersion: CURRENT_DEFAULTS,
    defaultLimits,
    replacesInstances: true,
  };
};

/** What a deployment runs: the specification of its workload with the digest that it requests. */
export const runSpecOf = ({ workload: { spec }, imageDigest }: Pick<Draft, 'workload' | 'imageDigest'>): StoredSpec =>
  imageDigest === null ? spec : { ...spec, image_digest: imageDigest };

/**
 * The digest that a change keeps: another image of the workload has none, and a change that pulls the image follows its tag, as
 * `pull` requests it.
 */
function digestAfter(row: DeploymentRow, { workload, desiredState, pull, imageDigest }: Draft, restart: boolean) {
  const { desired_state, revision } = row;
  if (!isSameImage(row, workload.spec)) return null;
  const pulls = restart || desired_state === 'stopped' || workload.revision !== revision;
  const follows = ['always', 'if_possible'].includes(pullPolicyOf(workload.spec, pull));
  return desiredState === 'running' && pulls && follows ? null : imageDigest;
}

/** Whether a specification names the image that the workload of a deployment names. */
export const isSameImage = ({ image_source }: Pick<DeploymentRow, 'image_source'>, spec: StoredSpec): boolean =>
  imageMembers.every((member) => spec[member] === image_source[member]);

const imageMembers = ['registry_url', 'image_name', 'image_tag', 'image_digest'] as const;

/** The form in which instances are rendered, beside what they run. */
export type Form = Pick<Draft, 'defaultsVersion' | 'defaultLimits' | 'podSettings'>;

/** A draft that restores an earlier generation in its form, so that its instances that still run are not replaced. */
export const restoredDraft = (row: DeploymentRow, changes: DraftChanges, form: Form): Draft => ({
  ...draftOf(row, changes),
  ...form,
  replacesInstances: true,
  keepsForm: true,
});

/** Whether a change would not affect what runs. */
export const isUnchanged = (before: DeploymentRow, draft: Draft): boolean =>
  draft.replicas === before.replicas &&
  isDeepStrictEqual(draft.autoscaling, before.autoscaling) &&
  draft.scaledBy === before.scaled_by &&
  keepsInstances(before, draft);

/**
 * Whether existing instances continue to run. On a host, another `pull` applies to the next requested
 * change; the pods of a cluster contain it. A mount without a `storage_id` keeps its volume. Another
 * size is a change, which is refused.
 */
const keepsInstances = (before: DeploymentRow, draft: Draft): boolean =>
  isSameEnv(draft.env, before.env) &&
  isDeepStrictEqual(draft.hostPorts, before.host_ports) &&
  draft.workload.revision === before.revision &&
  draft.desiredState === before.desired_state &&
  draft.acceptedLosses.length === 0 &&
  draft.imageDigest === before.requested_digest &&
  (draft.pull === before.pull || before.cluster_id === null) &&
  !changesPods(before, draft) &&
  Object.entries(draft.volumes).every(([mount, { storage_id, size }]) => {
    const present = Object.hasOwn(before.volumes, mount) ? before.volumes[mount] : undefined;
    return (
      present !== undefined &&
      (storage_id ?? present.storage_id) === present.storage_id &&
      isSameSize(size ?? present.size, present.size)
    );
  });

/**
 * Whether other labels of the deployment change its pods. All other labels change only its objects,
 * which replaces nothing.
 */
function changesPods(before: DeploymentRow, { labels }: Draft): boolean {
  if (before.cluster_id === null || before.desired_state === 'stopped') return false;
  const settled = { defaults: before.defaults_version, podSettings: before.pod_settings };
  return !isDeepStrictEqual(podLabels({ ...settled, labels }), podLabels({ ...settled, labels: before.labels }));
}

const MEBIBYTE = 2 ** 20;
/**
 * Maximum size of the configuration of all replicas of a deployment. On a host, each replica has
 * its own copy.
 */
const MAX_CONFIGURATION = 64 * MEBIBYTE;

/**
 * Limits the size of the manifest of a deployment. A change that affects neither environment,
 * revision nor replicas is not refused, so that an existing deployment of any size can be stopped,
 * started and restarted.
 *
 * @throws 400 if all replicas together are too large
 */
export function refuseExcessiveSize(draft: Draft, before?: DeploymentRow): void {
  const { env, workload } = draft;
  const replicas = countedReplicas(draft);
  const isSame =
    before !== undefined &&
    countedReplicas(before) === replicas &&
    before.revision === workload.revision &&
    isSameEnv(before.env, env);
  const size = isSame ? 0 : configurationSize(draft);
  if (size * replicas <= MAX_CONFIGURATION) return;
  const message = `must be at most ${Math.floor(MAX_CONFIGURATION / size)} for this environment and workload: each replica has ${size} bytes of configuration, and all replicas together must have at most ${MAX_CONFIGURATION / MEBIBYTE} MiB`;
  throw invalid([{ path: draft.autoscaling === null ? 'replicas' : 'autoscaling.max_replicas', message }]);
}

/** The size in bytes of what a renderer writes for each replica, as JSON. */
const configurationSize = ({ workload: { spec }, env }: Draft): number =>
  Buffer.byteLength(JSON.stringify({ ...spec, env: resolveEnv(spec, env).env, env_schema: [] }));

type Reader = Pick<Prisma.TransactionClient, '$queryRaw'>;

/**
 * A revision of a workload; the latest if none is given. `pending` are those that earlier changes of
 * the same plan store. @throws 422 if the workload or the revision does not exist
 */
export async function readWorkloadRevision(
  reader: Reader,
  workloadId: string,
  revision: number | undefined,
  pending: readonly WorkloadRevision[] = [],
): Promise<WorkloadRevision> {
  const planned = pending.findLast(
    (each) => each.workloadId === workloadId && each.revision === (revision ?? each.revision),
  );
  if (planned) return planned;
  const [found] = await reader.$queryRaw<{ name: string; latest: number; revision: number | null }[]>`
    SELECT w.name, w.revision AS latest, ${revisionColumns} FROM workloads w
    LEFT JOIN workload_revisions v ON v.workload_id = w.id AND v.revision = coalesce(${revision}::bigint, w.revision)
    WHERE w.id = ${workloadId}::uuid`;
  if (!found) throw unknownWorkload('workload_id', `The workload ${workloadId} does not exist.`);
  if (found.revision === null)
    throw unknownWorkload('revision', `The workload ${found.name} has revisions 1 to ${found.latest}.`);
  return workloadRevisionOf(revisionRow.parse(found));
}

const unknownWorkload = (path: string, message: string) =>
  new Problem('unknown_workload', message, { errors: [{ path, message }] });

/** A revision that is not stored yet. */
export function revisionOf(
  { base, overrides }: NewWorkload,
  number: Pick<WorkloadRevision, 'workloadId' | 'revision'>,
): WorkloadRevision {
  const spec = { ...base.spec, ...overrides };
  return {
    ...number,
    spec,
    templateId: base.template_id,
    templateHash: base.template_hash,
    templateRevision: base.template_revision,
    acknowledged: [],
    minTier: base.min_tier,
    ...(base.evidence !== undefined && { evidence: base.evidence }),
    overridden: Object.keys(overrides),
    secretNames: secretNamesOf(spec),
    secretVariables: secretVariablesOf(spec),
  };
}

import { type Input, type Reply, registryHost } from '@svc/contract';
import { type DryRun, fleetEndpoints } from '@svc/contract/fleet';
import { invalid, pickDefined } from '@svc/http';
import { listBindings } from '../../deployments/addresses/list.ts';
import { type DecidedChange, type DeploymentChange, requestedChange } from '../../deployments/changes.ts';
import { type Decision, decide } from '../../deployments/decision.ts';
import { type Draft, type NewDeploymentRequest, readWorkloadRevision, runSpecOf } from '../../deployments/draft.ts';
import { askCluster, type DryRunSubject, notChecked } from '../../deployments/dry-run.ts';
import {
  differencesOf,
  type ManifestObject,
  manifestOf,
  presentManifest,
  type Renderable,
  readRenderable,
  renderingOf,
} from '../../deployments/manifest.ts';
import { readAdmission } from '../../deployments/networks/admission.ts';
import { readHostNetworks } from '../../deployments/networks/attached.ts';
import { type DecidedCreation, decideCreation } from '../../deployments/plans/creation.ts';
import { inPlan, type PlanContext } from '../../deployments/plans/several.ts';
import { refusalsOfDeletion, refuseManaged } from '../../deployments/refusals.ts';
import { type DeploymentRow, deployments } from '../../deployments/rows.ts';
import { planTemplate } from '../../deployments/templates/changes.ts';
import { digestOfPlan, failedBefore, fingerprintOf } from '../../deployments/updates/digest.ts';
import { NO_OUTAGE, outageOf } from '../../deployments/updates/outage.ts';
import { policyOf } from '../../deployments/updates/policy.ts';
import { upgradeOf } from '../../deployments/updates/upgrade.ts';
import { changedValues, newValues } from '../../deployments/updates/values.ts';
import { planSecrets } from '../../deployments/values/secret-uses.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { callerKey } from '../../identity/principal.ts';
import { listAssessments } from '../../placement/listed.ts';
import type { Shown } from '../../plans/decide.ts';
import { portKey } from '../../render/allocation.ts';
import { imageReference } from '../../render/image.ts';
import { DEFAULT_ACCOUNT, receivesToken, settingsOf } from '../../render/pod-settings.ts';
import { secretsWithPlaceholders } from '../../render/secrets.ts';
import { readRow } from '../../resources/kind.ts';
import { columnsOfTarget } from '../../resources/targets.ts';
import { awaitFirstChecks, refuseAmbiguousSource } from '../deployments.ts';
import { type RequestContext, route } from '../request/context.ts';

type Transaction = Prisma.TransactionClient;
type Body = Input<typeof fleetEndpoints.planDeployment>['body'];

/**
 * Makes the same decision as a creation or change, without storing or locking anything. Then, outside
 * of the transaction, it asks the chosen cluster.
 */
export const planDeployment = route(fleetEndpoints.planDeployment, async (context, { body }) => {
  const { database, engineRuntime, candidates, defaultLimits, servicePort, planQueue, principal } = context;
  const { plan, subject } = await engineRuntime.afterFirstChecks((canWait) =>
    planQueue.run(callerKey(principal), () =>
      inPlan({ database, candidates, defaultLimits, servicePort, principal }, async (planContext) => {
        const { deployment_id } = body;
        if (deployment_id === undefined) return planNew(planContext, body, canWait);
        return planChange(planContext, await readRow(planContext.transaction, deployments, deployment_id), body);
      }),
    ),
  );
  return { ...plan, dry_run: subject && body.dry_run ? await adviceOf(context, subject) : [] };
});

type Plan = Reply<typeof fleetEndpoints.planDeployment>;

/** What a cluster says about a plan. Only callers who can deploy learn it. */
async function adviceOf(context: RequestContext, subject: DryRunSubject): Promise<DryRun[]> {
  const { database, engineRuntime, settings, policy, principal, connection } = context;
  const decision = policy['resources-write'](principal);
  if (decision !== true) return notChecked(subject, 'role', typeof decision === 'string' ? decision : decision.message);
  const closed = new AbortController();
  connection.onClose(() => closed.abort());
  const { clusters } = engineRuntime;
  const caller = callerKey(principal);
  const { sealer } = settings;
  return askCluster(
    { database, sealer, clientOf: (cluster) => clusters.of(cluster), caller, signal: closed.signal },
    subject,
  );
}

/** A plan without what its cluster says, and what to ask the cluster. */
interface Planned {
  readonly plan: Omit<Plan, 'dry_run'>;
  /** Undefined if there is no cluster to ask, or nothing to ask about. */
  readonly subject: DryRunSubject | undefined;
}

const NEW = [
  'name',
  'labels',
  'template',
  'workload_id',
  'spec',
  'revision',
  'target',
  'replicas',
  'autoscaling',
  'scaled_by',
  'env',
  'host_ports',
  'volumes',
  'desired_state',
  'pull',
  'acknowledge',
  'updates',
] as const;

/** The values of members that a plan of a new deployment omits. */
const PLANNED: NewDeploymentRequest = {
  target: null,
  replicas: 1,
  autoscaling: null,
  scaled_by: 'fleet',
  env: {},
  volumes: {},
  desired_state: 'running',
  pull: 'auto',
};

async function planNew(context: PlanContext, body: Body, canWait: boolean): Promise<Planned> {
  const { transaction } = context;
  refuseAmbiguousSource(body);
  if (body.accept_loss) throw invalid([{ path: 'accept_loss', message: 'must be given only with deployment_id' }]);
  if (body.upgrade) throw invalid([{ path: 'upgrade', message: 'must be given only with deployment_id' }]);
  const request = { ...PLANNED, ...pickDefined(body, NEW) };
  const { decision } = await decideCreation(context, request);
  if (canWait) awaitFirstChecks(decision);
  const after = await manifestAfter(transaction, decision, { generation: 1, restarted_at: null });
  const plan = await presentPlan(transaction, decision, { before: [], after: after.objects, change: undefined });
  return { plan, subject: await subjectOf(transaction, { plan, after, before: undefined }) };
}

/** Members that cannot be changed. */
const IMMUTABLE = ['workload_id', 'template', 'spec', 'target', 'name'] as const;

/** Members that an upgrade does not change. */
const NOT_UPGRADED = [
  'labels',
  'revision',
  'replicas',
  'autoscaling',
  'scaled_by',
  'host_ports',
  'accept_loss',
  'desired_state',
  'pull',
  'updates',
] as const;

async function planChange(context: PlanContext, row: DeploymentRow, body: Body): Promise<Planned> {
  const { transaction } = context;
  refuseManaged(row);
  refuseGiven(body, IMMUTABLE, 'deployment_id');
  if (body.upgrade) refuseGiven(body, NOT_UPGRADED, 'upgrade');
  const upgrade = body.upgrade ? await upgradeOf(transaction, row) : undefined;
  const { draft, isUnchanged } = await requestedChange(context, row, { ...requestOf(body), ...upgrade?.deploys });
  const { workload } = draft;
  const present =
    workload.revision === row.revision
      ? workload
      : await readWorkloadRevision(transaction, row.workload_id, row.revision);
  const decision = await decide(context, draft);
  const { manifest: before } = await presentManifest(transaction, row);
  const stored = await readRenderable(transaction, row, present);
  const change = { row, stored, digest: digestOfPlan(row, draft), template: upgrade?.template };
  const refusals = refusalsOfDeletion(row);
  const withoutQuestions = async (shown: Decision, after: ManifestObject[]) => ({
    plan: await presentPlan(transaction, shown, { before, after, change }),
    subject: undefined,
  });
  if (refusals.length > 0) return withoutQuestions({ ...decision, refusals }, []);
  // A deployment that already matches stays unchanged, even if a new decision would refuse it.
  if (isUnchanged) {
    const { manifest: after } = await presentManifest(transaction, { ...row, labels: draft.labels });
    return withoutQuestions({ ...decision, refusals: [] }, after);
  }
  const { restarted_at } = row;
  const after = await manifestAfter(transaction, decision, { generation: row.generation + 1, restarted_at });
  const plan = await presentPlan(transaction, decision, { before, after: after.objects, change });
  return { plan, subject: await subjectOf(transaction, { plan, after, before: row }) };
}

/** Plans the update of a deployment to its present template, as a request for it does. */
export const planUpgrade = async (context: PlanContext, row: DeploymentRow): Promise<Omit<Plan, 'dry_run'>> =>
  (await planChange(context, row, { deployment_id: row.id, upgrade: true, dry_run: false })).plan;
/** The change that a body requests. Only the members that affect what runs are needed. */
const requestOf = (body: Body): DeploymentChange => ({
  operation: 'update',
  message: '',
  ...pickDefined(body, ['labels', 'revision', 'replicas', 'autoscaling', 'env', 'volumes', 'pull', 'updates']),
  scaledBy: body.scaled_by,
  hostPorts: body.host_ports,
  acceptedLosses: body.accept_loss,
  acknowledged: body.acknowledge,
  desiredState: body.desired_state,
});

/** @throws 400 for members that must not be given with another one */
function refuseGiven(body: Body, members: readonly (keyof Body)[], other: keyof Body): void {
  const given = members.filter((member) => body[member] !== undefined);
  if (given.length > 0) throw invalid(given.map((path) => ({ path, message: `must not be given with ${other}` })));
}

interface ManifestAfter {
  readonly objects: ManifestObject[];
  /** Undefined for a refused change. */
  readonly renderable?: Renderable;
}

/** What to ask a cluster about a plan. A stopped deployment has no pods. */
async function subjectOf(
  transaction: Transaction,
  {
    plan: { changes, placement },
    after: { objects, renderable },
    before,
  }: {
    readonly plan: Omit<Plan, 'dry_run'>;
    readonly after: ManifestAfter;
    readonly before: DeploymentRow | undefined;
  },
): Promise<DryRunSubject | undefined> {
  const { cluster_id = null } = placement.target ?? {};
  if (cluster_id === null || !renderable || changes.length === 0) return undefined;
  if (renderable.draft.desiredState === 'stopped') return undefined;
  const cluster = await transaction.cluster.findUniqueOrThrow({ where: { id: cluster_id } });
  const replacesPods = changes.some(
    ({ action, object, paths }) =>
      paths.some((path) => path.startsWith('/spec/template')) || (action === 'create' && object.startsWith('Job/')),
  );
  return { cluster, renderable, manifest: objects, before, replacesPods };
}

/**
 * The manifest after the change. A refused change is not rendered, since it may lack values that a
 * manifest requires.
 */
async function manifestAfter(
  transaction: Transaction,
  decision: Decision,
  at: Pick<Renderable, 'generation' | 'restarted_at'>,
): Promise<ManifestAfter> {
  if (decision.refusals.length > 0) return { objects: [] };
  const { chosen, draft, env, bound, composed, mounted, secrets, ports, networks } = decision;
  const target = chosen ?? draft.target;
  const admission = await readAdmission(transaction, { ...draft, target });
  const renderable = { draft, env, bound, composed, mounted, admission, ...at };
  const rendering = renderingOf(renderable, secretsWithPlaceholders(secrets));
  const allocated = {
    gpus: chosen?.gpus ?? [],
    ports: ports?.replicas ?? [],
    // A stopped deployment keeps its addresses.
    networks: networks?.networks ?? (chosen ? [] : await readHostNetworks(transaction, draft)),
  };
  return { objects: await manifestOf(transaction, { rendering, target, allocated }), renderable };
}

/** The manifests before and after a change, and the deployment that changes; undefined for a new one. */
interface Compared {
  readonly before: ManifestObject[];
  readonly after: ManifestObject[];
  readonly change:
    | {
        readonly row: DeploymentRow;
        readonly stored: Renderable;
        readonly digest: string;
        readonly template: Plan['template'] | undefined;
      }
    | undefined;
}

/** The ports of the host that the deployment requests, with the addresses to which they would bind. */
const hostPortsOf = ({ draft: { hostPorts }, ports }: Decision): Plan['host_ports'] =>
  (ports?.replicas[0] ?? [])
    .filter((port) => hostPorts[portKey(port)] !== undefined)
    .map(({ containerPort, protocol, hostPort, addresses }) => ({
      container_port: containerPort,
      protocol,
      host_port: hostPort,
      addresses: [...addresses],
    }));

async function presentPlan(
  transaction: Transaction,
  decision: Decision,
  { before, after, change }: Compared,
): Promise<Omit<Plan, 'dry_run'>> {
  const { refusals, placement, chosen, draft, mounted } = decision;
  const { secrets, isNewPullSecret, isNewToken } = await planSecrets(transaction, decision);
  const target = chosen ?? draft.target;
  const isRefused = refusals.length > 0;
  const changes = isRefused ? [] : differencesOf(before, after);
  const { listed, omitted } = listAssessments(placement.assessments);
  const replaces = draft.before?.desired_state === 'running' && changes.some(replacesInstances);
  return {
    ok: !isRefused,
    trust: decision.trust,
    refusals: refusals.map((refusal) => ({ ...refusal })),
    placement: {
      target: target && columnsOfTarget(target),
      candidates: listed.map(({ kind, id, name, fits, reasons, obstacles }) => ({
        kind,
        id,
        name,
        fits,
        reasons: [...reasons],
        obstacles: [...obstacles],
      })),
      omitted,
    },
    ...(await planTemplate(transaction, draft)),
    registry_credentials: registryCredentialsOf(draft, isNewPullSecret),
    bindings: listBindings(draft.env, decision.networks?.networks ?? []),
    host_ports: hostPortsOf(decision),
    secrets,
    service_account: target?.kind === 'cluster' ? accountOf(draft, isNewToken) : null,
    manifest: after,
    changes,
    replaces_instances: replaces,
    ...presentUpdate(decision, { changes, after, change }),
    held: change && !isRefused ? ((await failedBefore(transaction, draft.id, fingerprintOf(decision))) ?? null) : null,
    data: isRefused ? [] : notesOfData(mounted),
  };
}

/** What a plan of several deployments shows of a decided creation or change. */
export async function presentDecided(
  transaction: Transaction,
  decided: DecidedCreation | DecidedChange,
): Promise<Shown> {
  const { decision } = decided;
  const row = decided.kind === 'change' ? decided.before : undefined;
  const target = decision && targetIn(decision, row?.target_name ?? '');
  const unaffected = { target: target ?? null, replaces_instances: false, outage: NO_OUTAGE };
  const own = decided.kind === 'change' ? ownValues(decided) : [];
  if (decision === undefined || row === undefined)
    return { ...unaffected, values: [...own, ...(decision ? newValues(decision) : [])] };
  const { workload } = decision.draft;
  const present =
    workload.revision === row.revision
      ? workload
      : await readWorkloadRevision(transaction, row.workload_id, row.revision);
  const { manifest: before } = await presentManifest(transaction, row);
  const stored = await readRenderable(transaction, row, present);
  const { restarted_at } = row;
  const { objects } = await manifestAfter(transaction, decision, { generation: row.generation + 1, restarted_at });
  const changes = differencesOf(before, objects);
  return {
    ...unaffected,
    values: [...own, ...changedValues(stored, decision)],
    replaces_instances: row.desired_state === 'running' && changes.some(replacesInstances),
    outage: outageOf({ before: row, decision, changes, after: objects }),
  };
}

/** The maximum number of reasons that a plan of several deployments lists for a target. */
const MAX_REASONS = 5;

function targetIn({ chosen, draft, placement }: Decision, present: string): Shown['target'] {
  const target = chosen ?? draft.target;
  if (!target) return null;
  const assessment = placement.assessments.find(({ id }) => id === target.id);
  const { kind, id } = target;
  return { kind, id, name: assessment?.name ?? present, reasons: assessment?.reasons.slice(0, MAX_REASONS) ?? [] };
}

/** The values of a deployment that are not part of what it runs. */
function ownValues({ before, change, draft }: DecidedChange): Shown['values'] {
  const value = (path: 'labels' | 'updates', from: unknown, to: unknown) =>
    change[path] === undefined ? [] : [{ path, from: JSON.stringify(from), to: JSON.stringify(to) }];
  return [...value('labels', before.labels, draft.labels), ...value('updates', policyOf(before), draft.updates)];
}

/** What a plan states about the change of a deployment. */
function presentUpdate(
  decision: Decision,
  {
    changes,
    after,
    change,
  }: Pick<Compared, 'after' | 'change'> & { readonly changes: ReturnType<typeof differencesOf> },
): Pick<Plan, 'digest' | 'values' | 'template' | 'image' | 'new_variables' | 'rollout' | 'outage'> {
  const { draft } = decision;
  const spec = runSpecOf(draft);
  const known = change?.stored.draft.workload.spec.env_schema.map(({ name }) => name);
  return {
    digest: change?.digest ?? null,
    values: change ? changedValues(change.stored, decision) : [],
    template: change?.template ?? null,
    image: {
      reference: imageReference(draft.workload.spec),
      from_digest: change ? (change.row.image_digest ?? change.row.host_digest) : null,
      to_digest: spec.image_digest,
    },
    new_variables: known
      ? spec.env_schema
          .filter(({ name }) => !known.includes(name))
          .map(({ name, required, description, default_value }) => ({ name, required, description, default_value }))
      : [],
    rollout: { extra_instances: decision.extra.instances, reason: decision.extra.reason },
    outage: change ? outageOf({ before: change.row, decision, changes, after }) : NO_OUTAGE,
  };
}

/** The account of the pods of a draft, and whether the program receives a token of it. */
function accountOf({ workload: { spec }, podSettings, defaultsVersion }: Draft, isNewToken: boolean) {
  const settings = settingsOf({ podSettings, defaults: defaultsVersion });
  const token = receivesToken(spec, settings);
  return { name: settings.service_account ?? DEFAULT_ACCOUNT, token, is_new_token: token && isNewToken };
}

/** Whether a difference ends instances that run: it replaces a container, or the pods of a workload. */
const replacesInstances = ({ action, object, paths }: ReturnType<typeof differencesOf>[number]): boolean =>
  object.startsWith('Container/')
    ? action === 'replace'
    : /^(?:Deployment|Job)\//.test(object) &&
      (action === 'delete' || paths.some((path) => path.startsWith('/spec/template')));

/** What a change means for the data of volumes. */
const notesOfData = (mounted: Decision['mounted']) =>
  mounted.flatMap(({ name, isNew, replaces }) =>
    replaces
      ? [
          {
            volume: replaces.name,
            note: `is lost; ${isNew ? 'the new, empty volume' : 'the volume'} ${name} replaces it`,
          },
        ]
      : [],
  );

const registryCredentialsOf = ({ workload: { spec } }: Draft, is_new: boolean) =>
  spec.registry_credentials === null ? null : { secret: spec.registry_credentials, server: registryHost(spec), is_new };

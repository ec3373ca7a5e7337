import type { Input, Reply } from '@svc/contract';
import { fleetEndpoints } from '@svc/contract/fleet';
import { invalid, pickDefined } from '@svc/http';
import { type Decision, decide } from '../../deployments/decision.ts';
import {
  changedDraft,
  type Draft,
  isUnchanged,
  type NewDeploymentRequest,
  newDraft,
  readWorkloadRevision,
  refuseExcessiveSize,
} from '../../deployments/draft.ts';
import { acceptEnv } from '../../deployments/env.ts';
import {
  differencesOf,
  type ManifestObject,
  manifestOf,
  presentManifest,
  type Renderable,
  renderingOf,
} from '../../deployments/manifest.ts';
import { refusalsOfDeletion } from '../../deployments/refusals.ts';
import { type DeploymentRow, deployments } from '../../deployments/rows.ts';
import { scalingAfter } from '../../deployments/scaling/scaling.ts';
import { planSecrets } from '../../deployments/secret-uses.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { callerKey } from '../../identity/principal.ts';
import { listAssessments } from '../../placement/listed.ts';
import { registryHost } from '../../render/image.ts';
import { DEFAULT_ACCOUNT, receivesToken, settingsOf } from '../../render/pod-settings.ts';
import { secretsWithPlaceholders } from '../../render/secrets.ts';
import { readRow } from '../../resources/kind.ts';
import { columnsOfTarget, refuseUnknownTarget } from '../../resources/targets.ts';
import type { ChangeContext } from '../change.ts';
import { route } from '../context.ts';
import { awaitFirstChecks, refuseAmbiguousSource } from '../deployments.ts';

type Transaction = Prisma.TransactionClient;
type PlanContext = Pick<ChangeContext, 'transaction' | 'candidates' | 'defaultLimits'>;
type Body = Input<typeof fleetEndpoints.planDeployment>['body'];

/** Makes the same decision as a creation or change, without storing or locking anything. */
export const planDeployment = route(
  fleetEndpoints.planDeployment,
  ({ database, engineRuntime, candidates, defaultLimits, planQueue, principal }, { body }) =>
    engineRuntime.afterFirstChecks((canWait) =>
      planQueue.run(callerKey(principal), () =>
        database.client.$transaction(async (transaction) => {
          const { deployment_id } = body;
          const context = { transaction, candidates, defaultLimits };
          if (deployment_id === undefined) return planNew(context, body, canWait);
          return planChange(context, await readRow(transaction, deployments, deployment_id), body);
        }),
      ),
    ),
);

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
  'volumes',
  'desired_state',
  'pull',
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

async function planNew(
  context: PlanContext,
  body: Body,
  canWait: boolean,
): Promise<Reply<typeof fleetEndpoints.planDeployment>> {
  const { transaction, defaultLimits } = context;
  refuseAmbiguousSource(body);
  if (body.accept_loss) throw invalid([{ path: 'accept_loss', message: 'must be given only with deployment_id' }]);
  const request = { ...PLANNED, ...pickDefined(body, NEW) };
  await refuseUnknownTarget(transaction, request.target, { hold: false });
  const { draft } = await newDraft(transaction, request, defaultLimits);
  const decision = await decide(context, draft);
  if (canWait) awaitFirstChecks(decision);
  const after = await manifestAfter(transaction, decision, { generation: 1, restarted_at: null });
  return presentPlan(transaction, decision, { before: [], after });
}

/** Members that cannot be changed. */
const IMMUTABLE = ['workload_id', 'template', 'spec', 'target', 'name'] as const;

async function planChange(context: PlanContext, row: DeploymentRow, body: Body) {
  const { transaction, defaultLimits } = context;
  const errors = IMMUTABLE.filter((member) => body[member] !== undefined).map((path) => ({
    path,
    message: 'must not be given with deployment_id',
  }));
  if (errors.length > 0) throw invalid(errors);
  const workload = await readWorkloadRevision(transaction, row.workload_id, body.revision ?? row.revision);
  const { desired_state: desiredState = row.desired_state } = body;
  const isNewRevision = workload.revision !== row.revision;
  const { replicas, autoscaling, scaledBy } = scalingAfter(row, {
    ...pickDefined(body, ['replicas', 'autoscaling']),
    scaledBy: body.scaled_by,
  });
  const changed = {
    ...pickDefined(body, ['labels', 'volumes', 'pull']),
    replicas,
    autoscaling,
    scaledBy,
    acceptedLosses: body.accept_loss ?? [],
  };
  const env = body.env && acceptEnv(body.env, { ...workload, before: row.env });
  const draft = changedDraft(
    row,
    { ...changed, ...(env && { env }), workload, isNewRevision, desiredState },
    defaultLimits,
  );
  refuseExcessiveSize(draft, row);
  const decision = await decide(context, draft);
  const { manifest: before } = await presentManifest(transaction, row);
  const refusals = refusalsOfDeletion(row);
  if (refusals.length > 0) return presentPlan(transaction, { ...decision, refusals }, { before, after: [] });
  // A deployment that already matches stays unchanged, even if a new decision would refuse it.
  if (isUnchanged(row, draft)) {
    const { manifest: after } = await presentManifest(transaction, { ...row, labels: draft.labels });
    return presentPlan(transaction, { ...decision, refusals: [] }, { before, after });
  }
  const { restarted_at } = row;
  const after = await manifestAfter(transaction, decision, { generation: row.generation + 1, restarted_at });
  return presentPlan(transaction, decision, { before, after });
}

/**
 * The manifest after the change. A refused change is not rendered, since it may lack values that a
 * manifest requires.
 */
async function manifestAfter(
  transaction: Transaction,
  decision: Decision,
  at: Pick<Renderable, 'generation' | 'restarted_at'>,
): Promise<ManifestObject[]> {
  if (decision.refusals.length > 0) return [];
  const { chosen, draft, env, bound, mounted, secrets, ports } = decision;
  const target = chosen ?? draft.target;
  const rendering = renderingOf({ draft, env, bound, mounted, ...at }, secretsWithPlaceholders(secrets));
  const allocated = { gpus: chosen?.gpus ?? [], ports: ports?.replicas ?? [] };
  return manifestOf(transaction, { rendering, target, allocated });
}

async function presentPlan(
  transaction: Transaction,
  decision: Decision,
  { before, after }: { readonly before: ManifestObject[]; readonly after: ManifestObject[] },
) {
  const { refusals, placement, chosen, draft, mounted } = decision;
  const { secrets, isNewPullSecret, isNewToken } = await planSecrets(transaction, decision);
  const target = chosen ?? draft.target;
  const isRefused = refusals.length > 0;
  const changes = isRefused ? [] : differencesOf(before, after);
  const { listed, omitted } = listAssessments(placement.assessments);
  return {
    ok: !isRefused,
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
    registry_credentials: registryCredentialsOf(draft, isNewPullSecret),
    secrets,
    service_account: target?.kind === 'cluster' ? accountOf(draft, isNewToken) : null,
    manifest: after,
    changes,
    replaces_instances: draft.before?.desired_state === 'running' && changes.some(replacesInstances),
    data: isRefused ? [] : notesOfData(mounted),
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

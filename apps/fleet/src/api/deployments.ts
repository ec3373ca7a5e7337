import { type Input, paginationOf } from '@svc/contract';
import { fleetEndpoints, type GeneratedValue } from '@svc/contract/fleet';
import { etagOfVersion, invalid, Problem, replyWithPage, withEtag } from '@svc/http';
import { waitForPhase } from '../changes/wait.ts';
import { changeDeployment, digestToRestore, generationToRestore } from '../deployments/changes.ts';
import { type Decision, uncheckedTargets } from '../deployments/decision.ts';
import { presentEnv } from '../deployments/env.ts';
import { detailsOf, readDetails } from '../deployments/event-details.ts';
import { storedHostPorts } from '../deployments/host-ports/stored.ts';
import {
  findCreated,
  type IdempotentRequest,
  readIdempotencyKey,
  rememberRequest,
} from '../deployments/idempotency.ts';
import { presentManifest } from '../deployments/manifest.ts';
import { decideCreation, storeCreation } from '../deployments/plans/creation.ts';
import { decideDeletion, storeDeletion } from '../deployments/plans/deletion.ts';
import { refusalsOfDeletion, refuse, refuseManaged } from '../deployments/refusals.ts';
import { deploymentSummaries, deployments, presentDeployment } from '../deployments/rows.ts';
import { refuseScale, scalingRow } from '../deployments/scaling/scaling.ts';
import { abortedRollout, noRollout, resumeHeld } from '../deployments/updates/restore.ts';
import { presentRollout, storedOutcome } from '../deployments/updates/rollout.ts';
import { upgradeDeployment as upgrade } from '../deployments/updates/upgrade.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { callerKey } from '../identity/principal.ts';
import { UncheckedTargets } from '../reconciler/checks/first-checks.ts';
import { storedEnv } from '../render/env.ts';
import { refuseInUse } from '../resources/field-errors.ts';
import { lockRow, readRow, refuseRename } from '../resources/kind.ts';
import { deploymentList } from '../resources/list-rules.ts';
import { acquirePlacementLock } from '../resources/placement-lock.ts';
import { changeRoute, inPlacementQueue, placementRoute, runAudited } from './request/change.ts';
import { pageOptions, type RequestContext, route } from './request/context.ts';
import { largeReadsOf, replyWithResources } from './request/pages.ts';

export const listDeployments = route(fleetEndpoints.listDeployments, (context, { query }) =>
  replyWithResources(
    context,
    {
      kind: query.view === 'summary' ? deploymentSummaries : deployments,
      rules: deploymentList,
      present: (row) => presentDeployment(row, context.defaultLimits),
      element: fleetEndpoints.listDeployments.reply.shape.deployments.element,
      compose: (items, pagination) => ({ deployments: items, pagination }),
    },
    query,
  ),
);

export const getDeployment = route(fleetEndpoints.getDeployment, async (context, { params, query }) => {
  const { wait: phases = [], timeout: seconds } = query;
  const deployment = await waitForPhase(context, { id: params.id, phases, seconds });
  return withEtag({ deployment }, etagOfVersion(deployment.version, deployment));
});

/** A manifest costs as much as a plan, which contains it. */
export const getDeploymentManifest = route(
  fleetEndpoints.getDeploymentManifest,
  ({ database, planQueue, principal }, { params }) =>
    planQueue.run(callerKey(principal), () =>
      database.client.$transaction(async (transaction) => {
        const row = await readRow(transaction, deployments, params.id);
        return presentManifest(transaction, row);
      }),
    ),
);

export const listDeploymentEvents = route(
  fleetEndpoints.listDeploymentEvents,
  async ({ database: { client } }, { params, query }) => {
    const { id } = await readRow(client, deploymentSummaries, params.id);
    const where = { deployment_id: id };
    const [events, total] = await client.$transaction([
      client.deploymentEvent.findMany({ where, orderBy: [{ at: 'desc' }, { id: 'desc' }], ...pageOptions(query) }),
      client.deploymentEvent.count({ where }),
    ]);
    const details = await readDetails(client, id, events);
    return {
      events: events.map((event) => ({ ...event, details: detailsOf(event, details) })),
      pagination: paginationOf(query, total),
    };
  },
);

export const listDeploymentRevisions = route(
  fleetEndpoints.listDeploymentRevisions,
  async (context, { params, query }) => {
    const { client } = context.database;
    const { id, secret_variables } = await readRow(client, deploymentSummaries, params.id);
    const where = { deployment_id: id };
    const orderBy = { generation: 'desc' } as const;
    const select = { generation: true, env_bytes: true } as const;
    const [sizes, total] = await client.$transaction([
      client.deploymentRevision.findMany({ where, orderBy, select, ...pageOptions(query) }),
      client.deploymentRevision.count({ where }),
    ]);
    return replyWithPage(largeReadsOf(context), {
      sizes: sizes.map(({ generation: key, env_bytes: bytes }) => ({ key, bytes })),
      read: async (generations) => {
        const rows = await client.deploymentRevision.findMany({
          where: { ...where, generation: { in: [...generations] } },
          orderBy,
        });
        return rows.map((row) => ({
          ...row,
          ...scalingRow.pick({ autoscaling: true, scaled_by: true }).parse(row),
          outcome: storedOutcome.parse(row.outcome),
          env: presentEnv(storedEnv.parse(row.env), secret_variables),
          host_ports: storedHostPorts.parse(row.host_ports),
        }));
      },
      element: fleetEndpoints.listDeploymentRevisions.reply.shape.revisions.element,
      compose: (revisions) => ({ revisions, pagination: paginationOf(query, total) }),
    });
  },
);

type Body = Input<typeof fleetEndpoints.createDeployment>['body'];

/**
 * Decides, allocates and stores in one transaction, or refuses with all reasons and stores nothing.
 */
export const createDeployment = route(fleetEndpoints.createDeployment, async (context, { body }) => {
  refuseAmbiguousSource(body);
  const idempotent = readIdempotencyKey(context, body);
  const { reply, isFirstOfTemplate } = await context.engineRuntime.afterFirstChecks((canWait) =>
    inPlacementQueue(context, () => createOnce(context, { body, idempotent, canWait })),
  );
  if (isFirstOfTemplate) context.sync.reportDownloads(context.requestId);
  return reply;
});

interface Creation {
  readonly body: Body;
  readonly idempotent: IdempotentRequest | undefined;
  /** Whether the request can wait for the first checks of hosts and clusters. */
  readonly canWait: boolean;
}

/** Creates a deployment, unless an earlier request with the same key has created it. */
async function createOnce(context: RequestContext, { body, idempotent, canWait }: Creation) {
  let isFirstOfTemplate = false;
  const reply = await runAudited(context, fleetEndpoints.createDeployment, async (transaction) => {
    const present = async (id: string, generated: GeneratedValue[]) => ({
      deployment: presentDeployment(await readRow(transaction, deployments, id), context.defaultLimits),
      generated,
    });
    await acquirePlacementLock(transaction);
    const previous = idempotent && (await findCreated(transaction, idempotent, 'deployment_id'));
    if (previous !== undefined) {
      await refuseDeleted(transaction, previous);
      return present(previous, []); // only the first response contains the values
    }
    const changing = { ...context, transaction };
    const decided = await decideCreation(changing, body);
    if (canWait) awaitFirstChecks(decided.decision);
    refuse(decided.refusals);
    const stored = await storeCreation(changing, decided);
    isFirstOfTemplate = stored.isFirstOfTemplate;
    if (idempotent) await rememberRequest(transaction, idempotent, { deployment_id: stored.id });
    return present(stored.id, stored.generated);
  });
  return { reply, isFirstOfTemplate };
}

/** @throws 404 if the deployment that the first request created has been deleted */
async function refuseDeleted(transaction: Prisma.TransactionClient, id: string): Promise<void> {
  if (await transaction.deployment.findUnique({ where: { id } })) return;
  throw new Problem(
    'not_found',
    'The deployment that was created with this Idempotency-Key has been deleted. Use another key to create a new one.',
  );
}

/** @throws 400 unless exactly one of `workload_id`, `template` and `spec` is given */
export function refuseAmbiguousSource(body: Pick<Body, 'workload_id' | 'template' | 'spec' | 'revision'>): void {
  const { workload_id, template, spec, revision } = body;
  const given = [workload_id, template, spec].filter((source) => source !== undefined);
  if (given.length !== 1) {
    const message = 'is required if neither template nor spec is given, and must not be given with one of them';
    throw invalid([{ path: 'workload_id', message }]);
  }
  if (workload_id === undefined && revision !== undefined) {
    const message = 'must be given only with workload_id, because template and spec create a new workload';
    throw invalid([{ path: 'revision', message }]);
  }
}

/**
 * @throws UncheckedTargets if the deployment can become possible with the first check of a host or
 * cluster
 */
export function awaitFirstChecks(decision: Decision): void {
  const unchecked = uncheckedTargets(decision);
  if (unchecked.length > 0) throw new UncheckedTargets(unchecked);
}

export const updateDeployment = placementRoute(fleetEndpoints.updateDeployment, (context, { params, body }) =>
  changeDeployment(context, params.id, (before) => {
    refuseRename(body, before);
    const { labels, revision, replicas, env, volumes, desired_state: desiredState, take_over: takeOver } = body;
    const { accept_loss: acceptedLosses, acknowledge: acknowledged, pull, autoscaling, scaled_by: scaledBy } = body;
    const { updates, host_ports: hostPorts } = body;
    const details = [
      ...(takeOver ? ['taking over fields of other field managers'] : []),
      ...(acceptedLosses?.length ? [`accepting the loss of the volumes of ${acceptedLosses.join(', ')}`] : []),
    ];
    const message = ['updated', ...details].join(', ');
    const scaling = { replicas, autoscaling, scaledBy };
    const members = {
      labels,
      revision,
      ...scaling,
      env,
      hostPorts,
      volumes,
      acceptedLosses,
      desiredState,
      pull,
      takeOver,
      updates,
    };
    return { operation: 'update', message, acknowledged, ...members };
  }),
);

export const startDeployment = placementRoute(fleetEndpoints.startDeployment, (context, { params }) =>
  changeDeployment(context, params.id, () => ({
    operation: 'start',
    message: 'start requested',
    desiredState: 'running',
  })),
);

export const stopDeployment = placementRoute(fleetEndpoints.stopDeployment, (context, { params }) =>
  changeDeployment(context, params.id, () => ({
    operation: 'stop',
    message: 'stop requested',
    desiredState: 'stopped',
  })),
);

/** A restart also starts a stopped deployment. */
export const restartDeployment = placementRoute(fleetEndpoints.restartDeployment, (context, { params }) =>
  changeDeployment(
    context,
    params.id,
    () => ({ operation: 'restart', message: 'restart requested', desiredState: 'running', restart: true }),
    { ofParts: true },
  ),
);

export const scaleDeployment = placementRoute(fleetEndpoints.scaleDeployment, (context, { params, body }) =>
  changeDeployment(context, params.id, (before) => {
    refuseScale(before);
    return {
      operation: 'scale',
      message: `replicas changed from ${before.replicas} to ${body.replicas}`,
      replicas: body.replicas,
    };
  }),
);

export const rollbackDeployment = placementRoute(fleetEndpoints.rollbackDeployment, (context, { params, body }) =>
  changeDeployment(context, params.id, async (before) => {
    const { generation, revision, replicas, env, hostPorts, ...digests } = await generationToRestore(
      context.transaction,
      before,
      body.generation,
    );
    const message = `rolled back to generation ${generation}`;
    const imageDigest = digestToRestore(before, digests);
    return {
      operation: 'rollback',
      message,
      revision,
      replicas,
      recordedEnv: env,
      hostPorts,
      imageDigest,
      isRollback: true,
    };
  }),
);

export const upgradeDeployment = placementRoute(fleetEndpoints.upgradeDeployment, (context, { params, body }) =>
  upgrade(context, params.id, { ...body, acknowledged: body.acknowledge }),
);

export const abortRollout = placementRoute(fleetEndpoints.abortRollout, (context, { params }) =>
  changeDeployment(context, params.id, (before) => {
    refuse(refusalsOfDeletion(before));
    return abortedRollout(context.transaction, before);
  }),
);

/** The next pass continues the rollout. */
export const resumeRollout = changeRoute(fleetEndpoints.resumeRollout, async (context, { params }) => {
  const { transaction, ifMatch } = context;
  const row = await lockRow(transaction, deployments, { id: params.id, ifMatch });
  refuseManaged(row);
  const rollout = presentRollout(row);
  if (rollout?.state !== 'held') throw noRollout(row, 'has no rollout that is held');
  await resumeHeld(transaction, row, rollout);
  return { deployment: presentDeployment(await readRow(transaction, deployments, row.id), context.defaultLimits) };
});

/**
 * Deletes a deployment with the volumes that were created for it, unless their reclaim policy is
 * retain, and with the workload that it created, unless the caller keeps it. The rows are deleted
 * at once if no engine has received the deployment, otherwise after the engine has removed its
 * objects. @throws 409 if another deployment is bound to one of its generated values
 */
export const deleteDeployment = placementRoute(fleetEndpoints.deleteDeployment, async (context, { params, query }) => {
  const { transaction, ifMatch } = context;
  await acquirePlacementLock(transaction);
  const row = await lockRow(transaction, deployments, { id: params.id, ifMatch });
  const decided = await decideDeletion(context, { before: row, keepsWorkload: query.keep_workload });
  refuseInUse(decided.dependents);
  const isRemoved = await storeDeletion(context, decided);
  const after = isRemoved ? { ...row, phase: 'deleting' as const } : await readRow(transaction, deployments, row.id);
  return { deployment: presentDeployment(after, context.defaultLimits) };
});

import type { Input } from '@svc/contract';
import { applicationSpec, paginationOf } from '@svc/contract';
import { fleetEndpoints, type GeneratedValue, overridesReply, usesReply } from '@svc/contract/fleet';
import { etagOfVersion, invalid, Problem, replyWithPage, withEtag } from '@svc/http';
import { readAdopted } from '../applications/adopt.ts';
import { changeApplication, refusePart } from '../applications/apply.ts';
import {
  type ApplicationChange,
  decideChange,
  generationToRestore,
  refuseNotScalable,
} from '../applications/change.ts';
import { decideApplication, type Wanted } from '../applications/decision/decide.ts';
import { planOf } from '../applications/decision/plan.ts';
import { deleteApplication as storeDeletion } from '../applications/deletion.ts';
import { listEvents } from '../applications/events.ts';
import { storedInputs } from '../applications/inputs.ts';
import { presentOrigin, readRequested, storeAcknowledged } from '../applications/origin.ts';
import { overridesAfter } from '../applications/overrides.ts';
import { abortedUpdate, nothingToRestore, resumeUpdate } from '../applications/rollout.ts';
import { type ApplicationRow, applications, presentApplications, readApplication } from '../applications/rows.ts';
import { storeApplication } from '../applications/store.ts';
import { newApplicationPolicy } from '../applications/updates/policy.ts';
import { upgradeTo } from '../applications/updates/upgrade.ts';
import { usesAfter } from '../applications/uses.ts';
import { waitForApplication } from '../changes/wait-application.ts';
import {
  findCreated,
  type IdempotentRequest,
  readIdempotencyKey,
  rememberRequest,
} from '../deployments/idempotency.ts';
import { inPlan } from '../deployments/plans/several.ts';
import { revealGenerated } from '../deployments/values/reveal.ts';
import { authorOf } from '../identity/actor.ts';
import { callerKey } from '../identity/principal.ts';
import { listRows, lockRow, readRow, readRows, refuseRename } from '../resources/kind.ts';
import { applicationList } from '../resources/list-rules.ts';
import { acquirePlacementLock } from '../resources/placement-lock.ts';
import { awaitFirstChecksOfParts } from './applications/planned.ts';
import { logsOf } from './deployments/logs.ts';
import { type ChangeContext, changeRoute, inPlacementQueue, placementRoute, runAudited } from './request/change.ts';
import { pageOptions, type RequestContext, route } from './request/context.ts';
import { largeReadsOf } from './request/pages.ts';

export const listApplications = route(fleetEndpoints.listApplications, async (context, { query }) => {
  const { client } = context.database;
  const { sizes, rows, pagination } = await listRows(client, applications, applicationList, query);
  return replyWithPage(largeReadsOf(context), {
    sizes,
    items: rows && (await presentApplications(client, rows)),
    read: async (ids) => presentApplications(client, await readRows(client, applications, ids)),
    element: fleetEndpoints.listApplications.reply.shape.applications.element,
    compose: (items) => ({ applications: items, pagination }),
  });
});

export const getApplication = route(fleetEndpoints.getApplication, async (context, { params, query }) => {
  const { wait: phases = [], timeout: seconds } = query;
  const application = await waitForApplication(context, { id: params.id, phases, seconds });
  return withEtag({ application }, etagOfVersion(application.version, application));
});

export const getApplicationSpec = route(fleetEndpoints.getApplicationSpec, async ({ database }, { params }) => {
  const { id, generation } = await readRow(database.client, applications, params.id);
  const where = { application_id_generation: { application_id: id, generation } };
  const { spec_version } = await database.client.applicationGeneration.findUniqueOrThrow({ where });
  const { spec } = await database.client.applicationSpec.findUniqueOrThrow({
    where: { application_id_spec_version: { application_id: id, spec_version } },
  });
  return { spec: applicationSpec.parse(spec) };
});

export const listApplicationEvents = route(
  fleetEndpoints.listApplicationEvents,
  async ({ database }, { params, query }) => {
    const { id } = await readRow(database.client, applications, params.id);
    const { events, total } = await listEvents(database.client, id, query);
    return { events, pagination: paginationOf(query, total) };
  },
);

export const listApplicationGenerations = route(
  fleetEndpoints.listApplicationGenerations,
  async ({ database: { client } }, { params, query }) => {
    const { id } = await readRow(client, applications, params.id);
    const where = { application_id: id };
    const [generations, total] = await client.$transaction([
      client.applicationGeneration.findMany({ where, orderBy: { generation: 'desc' }, ...pageOptions(query) }),
      client.applicationGeneration.count({ where }),
    ]);
    return {
      generations: generations.map(({ inputs, replicas, overrides, uses, outcome, ...rest }) => ({
        ...rest,
        inputs: storedInputs.parse(inputs),
        replicas: storedReplicas.parse(replicas),
        overrides: overridesReply.parse(overrides),
        use: usesReply.parse(uses),
        outcome: storedOutcome.parse(outcome),
      })),
      pagination: paginationOf(query, total),
    };
  },
);

const { replicas: storedReplicas } = fleetEndpoints.listApplicationGenerations.reply.shape.generations.element.shape;
const { outcome: storedOutcome } = fleetEndpoints.listApplicationGenerations.reply.shape.generations.element.shape;

/** Makes the same decision as a creation, without storing or locking anything. */
export const planApplication = route(fleetEndpoints.planApplication, async (context, { body }) => {
  const { database, engineRuntime, candidates, defaultLimits, planQueue, principal } = context;
  return engineRuntime.afterFirstChecks((canWait) =>
    planQueue.run(callerKey(principal), () =>
      inPlan({ database, candidates, defaultLimits, principal }, async (planContext) => {
        const { transaction } = planContext;
        if (body.application_id !== undefined) {
          const row = await readRow(transaction, applications, body.application_id);
          const change = await plannedChange(transaction, row, body);
          const { decided, before } = await decideChange(planContext, row, change);
          return planOf(transaction, decided, before);
        }
        const wanted = await plannedCreation(transaction, body);
        const decided = await decideApplication(
          planContext,
          wanted,
          await readAdopted(planContext, wanted, body.adopt ?? {}),
        );
        if (canWait) awaitFirstChecksOfParts(decided);
        return planOf(transaction, decided);
      }),
    ),
  );
});

type Body = Input<typeof fleetEndpoints.createApplication>['body'];

type Planned = Input<typeof fleetEndpoints.planApplication>['body'];

type Transaction = ChangeContext['transaction'];

async function requestedBy(transaction: Transaction, body: Body): Promise<Wanted> {
  const { name, labels, inputs, replicas, volumes, use: uses, target, desired_state: desiredState } = body;
  const content = await readRequested(transaction, body);
  const overrides = overridesAfter(content.spec, {}, body.overrides);
  const updates = newApplicationPolicy(body.updates);
  return { name, labels, ...content, inputs, replicas, volumes, overrides, uses, updates, target, desiredState };
}

/** A new application, with the values of members that its plan omits. @throws 400 without a name */
async function plannedCreation(transaction: Transaction, body: Planned): Promise<Wanted> {
  const { name, labels = {}, inputs = {}, replicas = {}, volumes = {}, target = null } = body;
  if (name === undefined) throw invalid([{ path: 'name', message: 'is required for a new application' }]);
  if (body.upgrade) throw invalid([{ path: 'upgrade', message: 'must be given only for an application that exists' }]);
  const { desired_state: desiredState = 'running' } = body;
  const content = await readRequested(transaction, body);
  const overrides = overridesAfter(content.spec, {}, body.overrides);
  const uses = usesAfter(content.spec, {}, body.use);
  const updates = newApplicationPolicy();
  return { name, labels, ...content, inputs, replicas, volumes, overrides, uses, updates, target, desiredState };
}

/** The members of a request that change what an application runs. */
const changedMembers = ({ spec, inputs, replicas, volumes, overrides, use, labels }: Pick<Planned, ChangedMember>) => ({
  spec,
  inputs,
  replicas,
  volumes,
  overrides,
  use,
  labels,
});

type ChangedMember = 'spec' | 'inputs' | 'replicas' | 'volumes' | 'overrides' | 'use' | 'labels';

/** @throws 400 for members that a change cannot have */
async function plannedChange(transaction: Transaction, row: ApplicationRow, body: Planned): Promise<ApplicationChange> {
  const { name, target, adopt, application, desired_state: desiredState } = body;
  const { inputs, ...members } = changedMembers(body);
  const others = body.upgrade ? { ...members, desired_state: desiredState } : {};
  const given = Object.entries({ name, target, adopt, application, ...others }).filter(
    ([, value]) => value !== undefined,
  );
  const other = body.upgrade ? 'upgrade' : 'application_id';
  if (given.length > 0) throw invalid(given.map(([path]) => ({ path, message: `must not be given with ${other}` })));
  if (body.upgrade) return upgradeTo(await presentOrigin(transaction, row, body.acknowledge), { inputs });
  return { operation: 'update', message: 'updated', ...members, inputs, desiredState };
}

/** Decides and stores all parts in one transaction, or refuses with all reasons and stores nothing. */
export const createApplication = route(fleetEndpoints.createApplication, (context, { body }) => {
  const idempotent = readIdempotencyKey(context, body);
  return context.engineRuntime.afterFirstChecks((canWait) =>
    inPlacementQueue(context, () => createOnce(context, { body, idempotent, canWait })),
  );
});

interface Creation {
  readonly body: Body;
  readonly idempotent: IdempotentRequest | undefined;
  readonly canWait: boolean;
}

/** Creates an application, unless an earlier request with the same key has created it. */
const createOnce = (context: RequestContext, { body, idempotent, canWait }: Creation) =>
  runAudited(context, fleetEndpoints.createApplication, async (transaction) => {
    const present = async (id: string, generated: GeneratedValue[]) => ({
      application: await readApplication(transaction, id),
      generated,
    });
    await acquirePlacementLock(transaction);
    const previous = idempotent && (await findCreated(transaction, idempotent, 'application_id'));
    if (previous !== undefined) return present(previous, []); // only the first response contains the values
    const changing = { ...context, transaction };
    const wanted = await requestedBy(transaction, body);
    const decided = await decideApplication(changing, wanted, await readAdopted(changing, wanted, body.adopt));
    if (canWait) awaitFirstChecksOfParts(decided);
    refusePart(decided.refusals);
    if (body.expected !== undefined && body.expected !== decided.digest) {
      const detail =
        'Nothing was created: the request or a target has changed since the plan was made. Make a new plan.';
      throw new Problem('plan_outdated', detail);
    }
    const stored = await storeApplication(changing, decided, { onFailure: body.on_failure, values: body.values });
    await acknowledge(changing, stored.id, body.acknowledge);
    if (idempotent) await rememberRequest(transaction, idempotent, { application_id: stored.id });
    return present(stored.id, stored.generated);
  });

/** Stores the advisories that a request acknowledges with the copy that runs, and in its audit entry. */
async function acknowledge({ transaction, recording }: ChangeContext, id: string, ids: readonly string[]) {
  const stored = await storeAcknowledged(transaction, id, ids);
  recording.acknowledged = [...recording.acknowledged, ...stored];
}

/** Changes an application under the placement lock. */
async function change(
  context: ChangeContext,
  id: string,
  request: (row: ApplicationRow) => ApplicationChange | Promise<ApplicationChange>,
  acknowledged: readonly string[] = [],
) {
  const { transaction, ifMatch } = context;
  await acquirePlacementLock(transaction);
  const row = await lockRow(transaction, applications, { id, ifMatch });
  const generated = await changeApplication(context, row, await request(row));
  await acknowledge(context, row.id, acknowledged);
  return { application: await readApplication(transaction, row.id), generated };
}

export const updateApplication = placementRoute(fleetEndpoints.updateApplication, (context, { params, body }) =>
  change(
    context,
    params.id,
    (row) => {
      refuseRename(body, row);
      const { updates, expected, force, on_failure: onFailure } = body;
      return { operation: 'update', message: 'updated', ...changedMembers(body), updates, expected, force, onFailure };
    },
    body.acknowledge,
  ),
);

export const startApplication = placementRoute(fleetEndpoints.startApplication, (context, { params }) =>
  change(context, params.id, () => ({ operation: 'start', message: 'start requested', desiredState: 'running' })),
);

export const stopApplication = placementRoute(fleetEndpoints.stopApplication, (context, { params }) =>
  change(context, params.id, () => ({ operation: 'stop', message: 'stop requested', desiredState: 'stopped' })),
);

/** A restart also starts a stopped application. */
export const restartApplication = placementRoute(fleetEndpoints.restartApplication, (context, { params }) =>
  change(context, params.id, () => ({ operation: 'restart', message: 'restart requested', desiredState: 'running' })),
);

export const scaleApplication = placementRoute(fleetEndpoints.scaleApplication, (context, { params, body }) =>
  change(context, params.id, async (row) => {
    const { replicas } = body;
    await refuseNotScalable(context.transaction, row, replicas);
    const numbers = Object.entries(replicas).map(([part, count]) => `${part} ${count}`);
    return { operation: 'scale', message: `replicas changed: ${numbers.join(', ')}`, replicas };
  }),
);

export const upgradeApplication = placementRoute(fleetEndpoints.upgradeApplication, (context, { params, body }) =>
  change(
    context,
    params.id,
    async (row) => upgradeTo(await presentOrigin(context.transaction, row, body.acknowledge), body),
    body.acknowledge,
  ),
);

export const rollbackApplication = placementRoute(fleetEndpoints.rollbackApplication, (context, { params, body }) =>
  change(context, params.id, async (row) => {
    const restores = await generationToRestore(context, row, body.generation);
    return { operation: 'rollback', message: `rolled back to generation ${restores}`, restores };
  }),
);

export const abortApplicationRollout = placementRoute(
  fleetEndpoints.abortApplicationRollout,
  async (context, { params }) => {
    const { transaction, ifMatch } = context;
    await acquirePlacementLock(transaction);
    const row = await lockRow(transaction, applications, { id: params.id, ifMatch });
    await changeApplication(context, row, await abortedUpdate(transaction, row));
    const application = await readApplication(transaction, row.id);
    if (application.generation === row.generation) throw nothingToRestore(row);
    return { application };
  },
);

/** The next passes of its parts continue the update. */
export const resumeApplicationRollout = changeRoute(
  fleetEndpoints.resumeApplicationRollout,
  async ({ transaction, ifMatch, principal }, { params }) => {
    const row = await lockRow(transaction, applications, { id: params.id, ifMatch });
    await resumeUpdate(transaction, row, authorOf(principal));
    return { application: await readApplication(transaction, row.id) };
  },
);

export const revealApplicationValue = changeRoute(
  fleetEndpoints.revealApplicationValue,
  async ({ transaction, principal, settings, recording }, { params }) => {
    const application = await readRow(transaction, applications, params.id);
    recording.objectName = application.name;
    return revealGenerated({ transaction, principal, settings }, application, params.name);
  },
);

export const deleteApplication = placementRoute(
  fleetEndpoints.deleteApplication,
  async (context, { params, query }) => {
    const { transaction, ifMatch } = context;
    await acquirePlacementLock(transaction);
    const row = await lockRow(transaction, applications, { id: params.id, ifMatch });
    const before = await readApplication(transaction, row.id);
    const kept_volumes = await storeDeletion(context, row, { keepsVolumes: query.volumes === 'keep' });
    const isGone = (await transaction.application.findUnique({ where: { id: row.id } })) === null;
    const application = isGone ? { ...before, phase: 'deleting' as const } : await readApplication(transaction, row.id);
    return { application, kept_volumes };
  },
);

/** The logs of a part are those of its deployment. */
export const readApplicationLogs = route(fleetEndpoints.readApplicationLogs, async (context, { params, query }) => {
  const { part, ...options } = query;
  const { client } = context.database;
  const { id: application_id } = await readRow(client, applications, params.id);
  const parts = await client.deployment.findMany({ where: { application_id }, select: { id: true, part: true } });
  const found = parts.find((each) => each.part === part);
  if (found) return logsOf(context, found.id, options);
  const names = parts.flatMap((each) => each.part ?? []).sort();
  throw invalid([{ path: 'part', message: `must be a part of the application, which has ${names.join(', ')}` }]);
});

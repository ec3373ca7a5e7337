import { type Input, paginationOf } from '@svc/contract';
import { fleetEndpoints } from '@svc/contract/fleet';
import { etagOfVersion, invalid, Problem, Tagged } from '@svc/http';
import { v7 as uuidv7 } from 'uuid';
import { authorOf } from '../audit/recording.ts';
import { noteTemplateUse } from '../catalog/download-reports.ts';
import { decide } from '../deployments/decision.ts';
import { type Draft, runsFrom, runsOf } from '../deployments/draft.ts';
import { presentManifest } from '../deployments/manifest.ts';
import { refuse } from '../deployments/refusals.ts';
import { deployments, presentDeployment } from '../deployments/rows.ts';
import { allocate, allocationOf } from '../deployments/store.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { listRows, readRow } from '../resources/kind.ts';
import { decideAlone } from '../resources/placement-lock.ts';
import { refuseUnknownTarget } from '../resources/targets.ts';
import { type Base, baseOf, insertRevision } from '../resources/workloads.ts';
import { type ChangeContext, recorded } from './change.ts';
import { route, rowsOf } from './context.ts';
import { PENDING, recordGeneration } from './deployments/generations.ts';
import { madeBefore, rememberMade, repeatableOf } from './deployments/idempotency.ts';

export const listDeployments = route(fleetEndpoints.listDeployments, async ({ database }, { query }) => {
  const { rows, pagination } = await listRows(database.client, deployments, query);
  return { deployments: rows.map(presentDeployment), pagination };
});

export const getDeployment = route(fleetEndpoints.getDeployment, async ({ database }, { params }) => {
  const row = await readRow(database.client, deployments, params.id);
  const deployment = presentDeployment(row);
  return new Tagged({ deployment }, etagOfVersion(deployment.version, deployment));
});

export const getDeploymentManifest = route(fleetEndpoints.getDeploymentManifest, ({ database }, { params }) =>
  database.client.$transaction(async (transaction) => {
    const row = await readRow(transaction, deployments, params.id);
    return { manifest: await presentManifest(transaction, row) };
  }),
);

export const listDeploymentEvents = route(
  fleetEndpoints.listDeploymentEvents,
  async ({ database: { client } }, { params, query }) => {
    const { id } = await readRow(client, deployments, params.id);
    const where = { deployment_id: id };
    const [events, total] = await client.$transaction([
      client.deploymentEvent.findMany({ where, orderBy: [{ at: 'desc' }, { id: 'desc' }], ...rowsOf(query) }),
      client.deploymentEvent.count({ where }),
    ]);
    return { events, pagination: paginationOf(query, total) };
  },
);

export const listDeploymentRevisions = route(
  fleetEndpoints.listDeploymentRevisions,
  async ({ database: { client } }, { params, query }) => {
    const { id } = await readRow(client, deployments, params.id);
    const where = { deployment_id: id };
    const [rows, total] = await client.$transaction([
      client.deploymentRevision.findMany({ where, orderBy: { generation: 'desc' }, ...rowsOf(query) }),
      client.deploymentRevision.count({ where }),
    ]);
    const revisions = rows.map(({ env, ...row }) => ({ ...row, env: env as Record<string, string> })); // as it was stored
    return { revisions, pagination: paginationOf(query, total) };
  },
);

type Body = Input<typeof fleetEndpoints.createDeployment>['body'];

/** Decided, placed, allocated and stored in one transaction, or refused with every reason and nothing stored. */
export const createDeployment = route(fleetEndpoints.createDeployment, async (context, { body }) => {
  refuseUnclear(body);
  const repeatable = repeatableOf(context, body);
  const reply = await recorded(context, fleetEndpoints.createDeployment, async (transaction) => {
    await decideAlone(transaction);
    const before = repeatable && (await madeBefore(transaction, repeatable));
    const id = before ?? (await make({ ...context, transaction }, body));
    if (before !== undefined) await refuseGone(transaction, before);
    if (repeatable && before === undefined) await rememberMade(transaction, repeatable, id);
    return { deployment: presentDeployment(await readRow(transaction, deployments, id)) };
  });
  context.sync.tellUses();
  return reply;
});

/** @throws 404 where what the request made the first time was deleted since */
async function refuseGone(transaction: Prisma.TransactionClient, id: string): Promise<void> {
  if (await transaction.deployment.findUnique({ where: { id } })) return;
  throw new Problem('not_found', 'What this Idempotency-Key made was deleted: use another key to make it again.');
}

/** @throws 400 unless it says what to run, once */
export function refuseUnclear(body: Pick<Body, 'workload_id' | 'template' | 'revision'>): void {
  const { workload_id, template, revision } = body;
  if ((workload_id === undefined) === (template === undefined)) {
    throw invalid([{ path: 'workload_id', message: 'or template must say what to run: one of the two' }]);
  }
  if (template !== undefined && revision !== undefined) {
    throw invalid([{ path: 'revision', message: 'goes with workload_id only: a template makes a new workload' }]);
  }
}

async function make(context: ChangeContext, body: Body): Promise<string> {
  const { transaction, principal } = context;
  const { name, labels, template, target, desired_state } = body;
  await refuseUnknownTarget(transaction, target);
  const author = authorOf(principal);
  const base = template === undefined ? undefined : await baseOf(transaction, template);
  const runs = base ? runsFrom(base) : await runsOf(transaction, body.workload_id ?? '', body.revision);
  const { replicas, env, volumes } = body;
  const draft: Draft = {
    id: uuidv7(),
    name,
    runs,
    isNewRevision: true,
    replicas,
    env,
    volumes,
    target,
    desired: desired_state,
  };
  const decision = await decide(transaction, draft);
  refuse(decision.refusals);
  if (base) await makeWorkload(context, draft, base);
  await transaction.deployment.create({
    data: {
      ...{ id: draft.id, name, labels, replicas, env, desired_state, created_by: author },
      ...{ workload_id: runs.workloadId, revision: runs.revision },
      ...allocationOf(decision),
      ...(desired_state === 'stopped' ? { phase: 'stopped' } : PENDING),
    },
  });
  await allocate(transaction, decision, author);
  await recordGeneration(context, {
    id: draft.id,
    operation: 'create',
    message: `${replicas} of revision ${runs.revision}`,
  });
  await noteTemplateUse(transaction, runs);
  return draft.id;
}

/** A template becomes a workload with the deployment's name. */
async function makeWorkload(
  { transaction, principal }: ChangeContext,
  { name, runs }: Draft,
  base: Base,
): Promise<void> {
  const author = authorOf(principal);
  await transaction.workload.create({ data: { id: runs.workloadId, name, created_by: author } });
  await insertRevision(transaction, { workloadId: runs.workloadId, revision: 1, base, said: {}, author });
}

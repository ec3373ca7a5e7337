import { isDeepStrictEqual } from 'node:util';
import { type Input, paginationOf } from '@svc/contract';
import { fleetEndpoints, type WorkloadSpec, workloadMembers } from '@svc/contract/fleet';
import { etagOfVersion, given, Tagged } from '@svc/http';
import { v7 as uuidv7 } from 'uuid';
import { authorOf } from '../audit/recording.ts';
import { refuseInUse } from '../resources/field-errors.ts';
import { changedNow, holdRow, listRows, readRow, refuseRename } from '../resources/kind.ts';
import { decideAlone } from '../resources/placement-lock.ts';
import {
  type Base,
  baseOf,
  insertRevision,
  presentRevision,
  presentWorkload,
  revisionRow,
  saidIn,
  templateState,
  workloads,
  written,
} from '../resources/workloads.ts';
import { change } from './change.ts';
import { route } from './context.ts';

export const listWorkloads = route(fleetEndpoints.listWorkloads, async ({ database }, { query }) => {
  const { rows, pagination } = await listRows(database.client, workloads, query);
  return { workloads: rows.map(presentWorkload), pagination };
});

export const getWorkload = route(fleetEndpoints.getWorkload, async ({ database }, { params }) => {
  const workload = presentWorkload(await readRow(database.client, workloads, params.id));
  return new Tagged({ workload }, etagOfVersion(workload.version, workload));
});

export const createWorkload = change(fleetEndpoints.createWorkload, async (context, { body }) => {
  const { transaction, principal } = context;
  const author = authorOf(principal);
  const { name, labels, template } = body;
  const base = template === undefined ? written : await baseOf(transaction, template);
  const id = uuidv7();
  await transaction.workload.create({ data: { id, name, labels, created_by: author } });
  await insertRevision(transaction, { workloadId: id, revision: 1, base, said: saidIn(body), author });
  return { workload: presentWorkload(await readRow(transaction, workloads, id)) };
});

/** What says what runs makes a new revision, unless it says what is so already; deployments stay on theirs. */
export const updateWorkload = change(fleetEndpoints.updateWorkload, async (context, { params, body }) => {
  const { transaction, principal, seen } = context;
  const before = await holdRow(transaction, workloads, { id: params.id, seen });
  refuseRename(body, before);
  const { spec } = before;
  const said = { ...before.said, ...newlySaid(body, spec) };
  const base: Base = body.template === undefined ? before : await baseOf(transaction, body.template);
  const isNew =
    base.template_id !== before.template_id ||
    base.template_hash !== before.template_hash ||
    !isDeepStrictEqual({ ...base.spec, ...said }, spec);
  const revision = before.revision + (isNew ? 1 : 0);
  if (isNew) {
    await insertRevision(transaction, { workloadId: before.id, revision, base, said, author: authorOf(principal) });
  }
  const data = { ...given(body, ['labels']), revision, ...changedNow() };
  await transaction.workload.update({ where: { id: before.id }, data });
  return { workload: presentWorkload(await readRow(transaction, workloads, before.id)) };
});

/** What is sent back as it was read is not said here: it goes on coming from the template. */
function newlySaid(body: Input<typeof fleetEndpoints.updateWorkload>['body'], spec: WorkloadSpec) {
  const said = saidIn(body);
  if (body.template !== undefined) return said;
  const isNews = (member: keyof WorkloadSpec) => !isDeepStrictEqual(said[member], spec[member]);
  return given(said, workloadMembers.filter(isNews));
}

export const deleteWorkload = change(fleetEndpoints.deleteWorkload, async ({ transaction, seen }, { params }) => {
  await decideAlone(transaction);
  const { id } = await holdRow(transaction, workloads, { id: params.id, seen });
  const deployments = await transaction.deployment.findMany({ where: { workload_id: id }, orderBy: { name: 'asc' } });
  refuseInUse(deployments.map(({ name }) => ({ kind: 'deployment', name })));
  await transaction.workload.delete({ where: { id } });
  return undefined;
});

export const listWorkloadRevisions = route(
  fleetEndpoints.listWorkloadRevisions,
  async ({ database }, { params, query }) => {
    const { client } = database;
    const { id } = await readRow(client, workloads, params.id);
    const rows = await client.$queryRaw<unknown[]>`
        SELECT v.revision, v.spec, v.template_id, v.template_slug, v.template_version, v.min_tier, v.created_at, v.created_by,
               ${templateState} AS template_state
        FROM workload_revisions v WHERE v.workload_id = ${id}::uuid
        ORDER BY v.revision DESC LIMIT ${query.limit} OFFSET ${(query.page - 1) * query.limit}`;
    const total = await client.workloadRevision.count({ where: { workload_id: id } });
    return {
      revisions: rows.map((row) => presentRevision(revisionRow.parse(row))),
      pagination: paginationOf(query, total),
    };
  },
);

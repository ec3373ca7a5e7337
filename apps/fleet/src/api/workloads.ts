import { isDeepStrictEqual } from 'node:util';
import { offsetOf, paginationOf, selectsImage, withoutOldDigest } from '@svc/contract';
import { fleetEndpoints, workloadMembers } from '@svc/contract/fleet';
import { etagOfVersion, pickDefined, replyWithPage, withEtag } from '@svc/http';
import { v7 as uuidv7 } from 'uuid';
import { refuse } from '../deployments/refusals.ts';
import { refuseSecretUses } from '../deployments/values/secret-uses.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { authorOf } from '../identity/actor.ts';
import type { WorkloadVariable } from '../render/env.ts';
import { PLACEHOLDER } from '../render/secrets.ts';
import { refuseDeviceVariables } from '../render/unsupported-values.ts';
import { readAdvice, refusalsOfAdvice, storeAcknowledged, templateAdvice } from '../resources/advice.ts';
import { refuseFieldErrors, refuseInUse } from '../resources/field-errors.ts';
import { lockRow, nextVersion, readRow, refuseRename } from '../resources/kind.ts';
import { workloadList } from '../resources/list-rules.ts';
import { acquirePlacementLock } from '../resources/placement-lock.ts';
import {
  differsFrom,
  insertRevision,
  isOtherCopy,
  keptOverrides,
  presentRevision,
  presentWorkload,
  type RevisionBase,
  revisionBytes,
  revisionRow,
  type StoredSpec,
  secretTextErrors,
  secretVariables,
  secretVariablesOf,
  specMembersOf,
  templateBase,
  templateState,
  type WorkloadRow,
  withoutTemplate,
  workloadSummaries,
  workloads,
} from '../resources/workloads.ts';
import { changeRoute } from './request/change.ts';
import { route } from './request/context.ts';
import { largeReadsOf, replyWithResources } from './request/pages.ts';

const { element: listedWorkload } = fleetEndpoints.listWorkloads.reply.shape.workloads;

export const listWorkloads = route(fleetEndpoints.listWorkloads, (context, { query }) =>
  replyWithResources(
    context,
    {
      kind: query.view === 'summary' ? workloadSummaries : workloads,
      rules: workloadList,
      present: presentWorkload,
      element: listedWorkload,
      compose: (items, pagination) => ({ workloads: items, pagination }),
    },
    query,
  ),
);

export const getWorkload = route(fleetEndpoints.getWorkload, async ({ database }, { params }) => {
  const workload = presentWorkload(await readRow(database.client, workloads, params.id));
  return withEtag({ workload }, etagOfVersion(workload.version, workload));
});

export const createWorkload = changeRoute(fleetEndpoints.createWorkload, async (context, { body }) => {
  const { transaction, principal, recording } = context;
  const author = authorOf(principal);
  const { name, labels, template } = body;
  const base = template === undefined ? withoutTemplate : await templateBase(transaction, template);
  const id = uuidv7();
  const overrides = withoutOldDigest(specMembersOf(body));
  refuseDeviceVariables({ ...base.spec, ...overrides });
  await refuseSecretUses(transaction, name, { ...base.spec, ...overrides });
  refuseFieldErrors(secretTextErrors(body.env ?? [], secretVariablesOf({ ...base.spec, ...overrides })));
  await refuseFlawed(transaction, base, body.acknowledge);
  await transaction.workload.create({ data: { id, name, labels, created_by: author } });
  await insertRevision(transaction, { workloadId: id, revision: 1, base, overrides, author });
  recording.acknowledged = await storeAcknowledged(
    transaction,
    { workloadId: id, revision: 1 },
    body.acknowledge ?? [],
  );
  return { workload: presentWorkload(await readRow(transaction, workloads, id)) };
});

/**
 * A change of the spec or template creates a new revision, unless it changes nothing. Deployments
 * keep their revision.
 */
export const updateWorkload = changeRoute(fleetEndpoints.updateWorkload, async (context, { params, body }) => {
  const { transaction, principal, ifMatch, recording } = context;
  const before = await lockRow(transaction, workloads, { id: params.id, ifMatch });
  refuseRename(body, before);
  const { spec } = before;
  const env = body.env?.map((variable) => unmasked(variable, before));
  const givenMembers = withoutOldDigest({ ...specMembersOf(body), ...(env && { env }) }, spec);
  const members = changedMembers(givenMembers, body.template ? undefined : spec);
  const overrides = withoutOldDigest({ ...keptOverrides(before), ...members });
  const base: RevisionBase = body.template === undefined ? before : await templateBase(transaction, body.template);
  const written = body.template === undefined ? members : { ...base.spec, ...overrides };
  refuseDeviceVariables(written);
  await refuseSecretUses(transaction, before.name, written);
  const secretNames = [...before.secret_variables, ...secretVariablesOf({ ...base.spec, ...overrides })];
  refuseFieldErrors(secretTextErrors(env ?? [], secretNames, spec.env));
  const isOther = isOtherCopy(base, before);
  const isNew = differsFrom(before, base, { ...base.spec, ...overrides });
  const revision = before.revision + (isNew ? 1 : 0);
  if (isOther) await refuseFlawed(transaction, base, body.acknowledge);
  if (isNew) {
    await insertRevision(transaction, {
      workloadId: before.id,
      revision,
      base,
      overrides,
      author: authorOf(principal),
    });
  }
  const { acknowledge = [] } = body;
  const earlier = isOther ? [] : before.acknowledged;
  const stored = await storeAcknowledged(transaction, { workloadId: before.id, revision }, [
    ...earlier,
    ...acknowledge,
  ]);
  recording.acknowledged = stored.filter((id) => acknowledge.includes(id));
  const data = { ...pickDefined(body, ['labels']), revision, ...nextVersion() };
  await transaction.workload.update({ where: { id: before.id }, data });
  return { workload: presentWorkload(await readRow(transaction, workloads, before.id)) };
});

/** @throws 422 if the template is blocked, or has critical advisories that the request does not acknowledge */
async function refuseFlawed(
  transaction: Prisma.TransactionClient,
  { template_id, template_revision }: RevisionBase,
  acknowledged: readonly string[] = [],
): Promise<void> {
  refuse(refusalsOfAdvice(await readAdvice(transaction, { template_id, template_revision, acknowledged })));
}

/**
 * The members that differ from the current spec. A member that is sent back unchanged continues to
 * follow the template, except the digest of an image that changes.
 */
function changedMembers(members: Partial<StoredSpec>, spec: StoredSpec | undefined): Partial<StoredSpec> {
  if (spec === undefined) return members;
  const isChanged = (member: keyof StoredSpec) => !isDeepStrictEqual(members[member], spec[member]);
  const changed = pickDefined(members, workloadMembers.filter(isChanged));
  const { image_digest } = members;
  return image_digest === undefined || !selectsImage(changed, spec) ? changed : { ...changed, image_digest };
}

/** The stored variable if its masked value is sent back, otherwise the given one. */
function unmasked(given: WorkloadVariable, { spec, secret_variables }: WorkloadRow): WorkloadVariable {
  const stored = spec.env.find(({ name }) => name === given.name);
  const isMasked = stored && (stored.sealed !== undefined || secret_variables.includes(stored.name));
  return isMasked && given.value === PLACEHOLDER ? stored : given;
}

export const deleteWorkload = changeRoute(
  fleetEndpoints.deleteWorkload,
  async ({ transaction, ifMatch, recording }, { params }) => {
    await acquirePlacementLock(transaction);
    const { id, name: workload } = await lockRow(transaction, workloads, { id: params.id, ifMatch });
    recording.objectName = workload;
    const deployments = await transaction.deployment.findMany({ where: { workload_id: id }, orderBy: { name: 'asc' } });
    refuseInUse(deployments.map(({ name }) => ({ kind: 'deployment', name })));
    await transaction.workload.delete({ where: { id } });
    return undefined;
  },
);

export const listWorkloadRevisions = route(fleetEndpoints.listWorkloadRevisions, async (context, { params, query }) => {
  const { client } = context.database;
  const { id } = await readRow(client, workloadSummaries, params.id);
  const sizes = await client.$queryRaw<{ key: number; bytes: number }[]>`
        SELECT v.revision AS key, ${revisionBytes} AS bytes FROM workload_revisions v WHERE v.workload_id = ${id}::uuid
        ORDER BY v.revision DESC LIMIT ${query.limit} OFFSET ${offsetOf(query)}`;
  const total = await client.workloadRevision.count({ where: { workload_id: id } });
  return replyWithPage(largeReadsOf(context), {
    sizes,
    read: async (revisions) => {
      const rows = await client.$queryRaw<unknown[]>`
          SELECT v.revision, v.spec, v.template_id, v.template_slug, v.template_version, v.template_revision, v.min_tier, v.created_at,
                 v.created_by, ${templateState} AS template_state, ${templateAdvice} AS advice, ${secretVariables} AS secret_variables
          FROM workload_revisions v WHERE v.workload_id = ${id}::uuid AND v.revision = ANY (${revisions}::int[])
          ORDER BY v.revision DESC`;
      return rows.map((row) => presentRevision(revisionRow.parse(row)));
    },
    element: fleetEndpoints.listWorkloadRevisions.reply.shape.revisions.element,
    compose: (revisions) => ({ revisions, pagination: paginationOf(query, total) }),
  });
});

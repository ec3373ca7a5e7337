import { z } from 'zod';
import { endpoint } from '../../shared/endpoint.ts';
import { anyId, anyName } from '../../shared/list-query.ts';
import { largeReads, largeRowReads } from '../../shared/reads.ts';
import { timestamp } from '../../shared/timestamp.ts';
import { id, ignored, line, pagination, paging } from '../../shared/wire.ts';
import {
  templateChangeFields,
  templateDefaults,
  templateExamples,
  templateFields,
  templateReply,
  workloadPart,
} from '../../template/fields.ts';
import { divideImage } from '../../template/image-reference.ts';
import { refuseOldValues, warnings } from '../../template/new-values.ts';
import {
  byId,
  changedMembers,
  newMembers,
  resourceMembers,
  resourceQuery,
  resourceView,
} from '../resources/resource.ts';
import { acknowledge, adviceFilters, adviceMembers, templateRefusals, templateState } from './advice.ts';

/** The rules of a workload's members, which are those of a template. */
export const workloadFields = workloadPart(templateFields);

/** The value of each member if neither the workload nor a template sets it. */
export const workloadDefaults = workloadPart(templateDefaults);

/** For each member a valid value other than the default, for tests. */
export const workloadExamples = workloadPart(templateExamples);

/** What runs: image, command, environment, ports, volumes, resources, and where it may run. */
export const workloadSpec = z.object(workloadPart(templateReply)).meta({ id: 'WorkloadSpec' });
export type WorkloadSpec = z.output<typeof workloadSpec>;

/** Members of a body. A member that is left out comes from the template, or has its default. */
const bodyMembers = workloadPart(templateChangeFields);

/** The members of a new workload, without the rules that compare them. */
export const newWorkloadMembers = z.strictObject(bodyMembers);

/** What a new deployment runs, if its request describes it. A member that is left out has its default. */
export const newWorkloadSpec = newWorkloadMembers
  .check(divideImage)
  .check(refuseOldValues)
  .meta({ id: 'NewWorkloadSpec' });

const template = line(64).meta({ description: 'Slug of a template of the mirror' });

const origin = {
  template_id: id.nullable(),
  template_slug: z.string().nullable().meta({ description: 'null: the workload was created without a template' }),
  template_version: z.string().nullable(),
  template_state: templateState.nullable().meta({
    description:
      '`outdated`: the template has changed since the copy; `withdrawn`: the template is no longer in the mirror; null: no template',
  }),
  min_tier: z.string().nullable().meta({ description: 'The minimum tier that the template requires' }),
  ...adviceMembers,
};

// Object.keys loses the names of the members.
const readOnly = ignored('revision', 'warnings', ...(Object.keys(origin) as (keyof typeof origin)[]));

export const workloadRevision = z.object({
  ...workloadSpec.shape,
  ...origin,
  revision: z.int(),
  created_at: timestamp,
  created_by: z.string(),
});

export const workload = z
  .object({
    ...resourceMembers,
    ...workloadSpec.shape,
    ...origin,
    revision: z
      .int()
      .meta({ description: 'The latest revision. Deployments keep their revision until they are changed' }),
    warnings,
  })
  .meta({ id: 'Workload' });

const acknowledging = { acknowledge: acknowledge.optional() };

const BODY_LIMIT = 1024 * 1024;

/** Workloads. */
export const fleetWorkloadEndpoints = {
  listWorkloads: endpoint({
    operationId: 'listWorkloads',
    method: 'get',
    path: '/api/v1/workloads',
    access: 'resources-read',
    tag: 'workloads',
    summary: 'List the workloads, each with its latest revision',
    query: resourceQuery({
      template: anyName('Slug of the template, when the latest revision was created'),
      template_id: anyId('The template of the latest revision'),
      ...adviceFilters,
      ...resourceView('of its specification, a workload has only the image, and the defaults of other members'),
    }),
    reads: largeRowReads,
    reply: z.object({ workloads: z.array(workload), pagination }),
  }),
  createWorkload: endpoint({
    operationId: 'createWorkload',
    method: 'post',
    path: '/api/v1/workloads',
    access: 'resources-write',
    tag: 'workloads',
    summary: 'Create a workload, from a template or from members of the body',
    body: z
      .strictObject({ ...newMembers, template: template.optional(), ...bodyMembers, ...acknowledging, ...readOnly })
      .check(divideImage)
      .check(refuseOldValues),
    bodyLimit: BODY_LIMIT,
    status: 201,
    reply: z.object({ workload }),
    problems: ['not_found', 'name_taken', 'unsupported_value', ...templateRefusals],
  }),
  getWorkload: endpoint({
    operationId: 'getWorkload',
    method: 'get',
    path: '/api/v1/workloads/:id',
    access: 'resources-read',
    tag: 'workloads',
    summary: 'Get a workload with its latest revision',
    params: byId,
    reads: largeReads,
    reply: z.object({ workload }),
    problems: ['not_found'],
  }),
  updateWorkload: endpoint({
    operationId: 'updateWorkload',
    method: 'put',
    path: '/api/v1/workloads/:id',
    access: 'resources-write',
    tag: 'workloads',
    summary:
      'Create a revision of a workload. With `template`, members that the workload does not set itself come from the current template',
    params: byId,
    headers: ['If-Match'],
    body: z
      .strictObject({ ...changedMembers, template: template.optional(), ...bodyMembers, ...acknowledging, ...readOnly })
      .check(divideImage)
      .check(refuseOldValues),
    bodyLimit: BODY_LIMIT,
    reply: z.object({ workload }),
    problems: ['not_found', 'version_conflict', 'unsupported_value', ...templateRefusals],
  }),
  deleteWorkload: endpoint({
    operationId: 'deleteWorkload',
    method: 'delete',
    path: '/api/v1/workloads/:id',
    access: 'resources-write',
    tag: 'workloads',
    summary: 'Delete a workload without deployments, with its revisions',
    params: byId,
    headers: ['If-Match'],
    status: 204,
    reply: z.void(),
    problems: ['not_found', 'in_use', 'version_conflict'],
  }),
  listWorkloadRevisions: endpoint({
    operationId: 'listWorkloadRevisions',
    method: 'get',
    path: '/api/v1/workloads/:id/revisions',
    access: 'resources-read',
    tag: 'workloads',
    summary: 'List the revisions of a workload, newest first',
    params: byId,
    query: z.strictObject(paging),
    reads: largeRowReads,
    reply: z.object({ revisions: z.array(workloadRevision), pagination }),
    problems: ['not_found'],
  }),
};

import { z } from 'zod';
import { endpoint } from '../../shared/endpoint.ts';
import { anyValue, exactText } from '../../shared/list-query.ts';
import { changeReads, MEBIBYTE } from '../../shared/reads.ts';
import { timestamp } from '../../shared/timestamp.ts';
import { id, line, pagination, paging, text } from '../../shared/wire.ts';
import { dnsLabel } from '../../template/fields.ts';
import { plan as deploymentPlan } from '../deployments/deployment.ts';
import { byId } from '../resources/resource.ts';
import { documentKinds } from './documents.ts';

/** The bounds of a plan. */
export const planLimits = {
  /** Characters of all files. */
  text: 2 * MEBIBYTE,
  documents: 2000,
  changes: 200,
  /** Plans that are ready, of a caller and of all callers. */
  openOfCaller: 20,
  open: 1000,
  deletions: 100,
} as const;

/** The text of all files as JSON, whose escape sequences make it longer. */
const BODY_LIMIT = 4 * MEBIBYTE;

export const planStates = [
  'ready',
  'needs_approval',
  'refused',
  'unchanged',
  'applied',
  'rejected',
  'outdated',
  'expired',
] as const;
const planActions = ['create', 'change', 'delete', 'release'] as const;
const changeCauses = ['file', 'drift', 'removed'] as const;

const newPlan = z
  .strictObject({
    set: dnsLabel.default('default').meta({ description: 'The set of objects that these files manage' }),
    files: z
      .array(z.strictObject({ path: line(400), text: text(planLimits.text) }))
      .min(1, 'must have at least 1 entry')
      .max(planLimits.documents, `must have at most ${planLimits.documents} entries`)
      .meta({
        description: `All files of the set, at most ${planLimits.text} characters with ${planLimits.documents} documents`,
      }),
    prune: z.boolean().default(false).meta({
      description:
        'Also remove the objects of the set that no file describes, as `on_removal` of their last documents says',
    }),
    max_deletions: z.int().min(0).max(planLimits.deletions).default(10).meta({
      description: 'The most deletions of `prune`. More are refused',
    }),
    adopt: z.boolean().default(false).meta({ description: 'Also manage objects that another set manages' }),
    title: line(200).default(''),
  })
  .meta({
    examples: [{ files: [{ path: 'cache.yaml', text: 'kind: deployment\nname: cache\ntemplate: memcached\n' }] }],
  });

const summary = z.object({
  create: z.int(),
  change: z.int(),
  delete: z.int(),
  release: z.int().meta({ description: 'Objects that stay, and are no longer managed by the set' }),
  unchanged: z.int(),
  interrupted: z.int().meta({ description: 'Objects that a change interrupts' }),
  left_out: z.int().meta({ description: 'Objects of the set that no file describes, and that stay without `prune`' }),
  kept: z.int().meta({
    description:
      'Objects that were changed by hand since their documents were applied, and stay so: plans of sources only',
  }),
});

const place = { file: z.string(), line: z.int() };
const object = { kind: z.enum(documentKinds), name: z.string() };

export const plannedChange = z.object({
  ...object,
  id: id.nullable().meta({ description: 'null: it is created' }),
  action: z.enum(planActions),
  ...place,
  cause: z.enum(changeCauses).meta({
    description: '`drift`: the object was changed since the same document was applied; `removed`: no file describes it',
  }),
  values: deploymentPlan.shape.values,
  target: z
    .object({ kind: z.enum(['cluster', 'host']), id, name: z.string(), reasons: z.array(z.string()) })
    .nullable()
    .meta({ description: 'Where it will run, and why there' }),
  replaces_instances: z.boolean(),
  outage: deploymentPlan.shape.outage,
});

const plan = z
  .object({
    id,
    set: z.string(),
    title: z.string(),
    state: z.enum(planStates).meta({
      description:
        '`ready`: it can be applied until `expires_at`; `needs_approval`: a person must approve it first; `refused`: with `refusals`; `unchanged`: everything matches; `outdated`: what it was decided about has changed',
    }),
    digest: z.string().meta({ description: 'Identifies what was decided, for `digest` of an application' }),
    prune: z.boolean(),
    max_deletions: z.int(),
    adopt: z.boolean(),
    summary,
    created_at: timestamp,
    created_by: z.string(),
    expires_at: timestamp.nullable().meta({ description: 'null: it was applied' }),
    applied_at: timestamp.nullable(),
    applied_by: z.string().nullable(),
    source_id: id.nullable().meta({ description: 'The source that made it; null: a caller made it' }),
    commit: z.string().nullable().meta({ description: 'The commit that the source has read' }),
    review: z
      .object({
        decision: z.enum(['approved', 'rejected']),
        by: z.string(),
        at: timestamp,
        reason: z.string(),
      })
      .nullable()
      .meta({ description: 'The decision of a person about it; null: none was made' }),
  })
  .meta({ id: 'StoredPlan' });

export const planWithChanges = plan
  .extend({
    changes: z.array(plannedChange).meta({ description: 'In the order in which they are made' }),
    refusals: z
      .array(z.object({ ...object, ...place, code: z.string(), path: z.string(), message: z.string() }))
      .meta({ description: 'All reasons for which it cannot be applied. `path` is the member of the document' }),
    losses: z
      .array(z.object({ deployment: z.string(), volume: z.string(), size: z.string() }))
      .meta({ description: 'The volumes that are deleted with their data' }),
    left_out: z.array(z.object(object)).meta({
      description: 'The objects of the set that no file describes, and that stay without `prune`: at most 100',
    }),
  })
  .meta({ id: 'StoredPlanWithChanges' });

const generated = z
  .array(
    z.object({
      deployment: z.string().meta({ description: 'Name of the deployment, or of the application' }),
      name: z.string().meta({ description: 'The variable, or the generated value of the application' }),
      value: z.string(),
    }),
  )
  .meta({
    description: 'The values that were generated. Only this response contains them; they can be revealed later',
  });

/** What the decisions about all documents read. */
const planReads = {
  rows: changeReads.rows * planLimits.changes,
  bytes: changeReads.bytes * planLimits.changes,
};

/** A plan with its decisions. */
const storedReads = { rows: 50, bytes: 24 * MEBIBYTE };

const digest = line(64).meta({ description: '`digest` of the plan' });

const review = {
  method: 'post',
  access: 'plans-review',
  tag: 'plans',
  params: byId,
  reads: storedReads,
  reply: z.object({ plan: planWithChanges }),
  problems: ['not_found', 'plan_outdated', 'plan_closed', 'approval_required'],
} as const;

/** Changes of several objects that are stored before they are made. */
export const fleetPlanEndpoints = {
  createPlan: endpoint({
    operationId: 'createPlan',
    method: 'post',
    path: '/api/v1/plans',
    access: 'resources-read',
    tag: 'plans',
    summary:
      'Plan what files describe: values before and after, placement, outages and losses. Nothing else is changed',
    body: newPlan,
    bodyLimit: BODY_LIMIT,
    reads: planReads,
    status: 201,
    reply: z.object({ plan: planWithChanges }),
    problems: ['too_many_plans', 'overloaded'],
  }),
  listPlans: endpoint({
    operationId: 'listPlans',
    method: 'get',
    path: '/api/v1/plans',
    access: 'resources-read',
    tag: 'plans',
    summary: 'List the plans, newest first',
    query: z.strictObject({
      ...paging,
      state: anyValue('state', z.enum(planStates)),
      set: exactText('Name of the set'),
    }),
    reply: z.object({ plans: z.array(plan), pagination }),
  }),
  getPlan: endpoint({
    operationId: 'getPlan',
    method: 'get',
    path: '/api/v1/plans/:id',
    access: 'resources-read',
    tag: 'plans',
    summary: 'Get a plan with its changes',
    params: byId,
    reads: storedReads,
    reply: z.object({ plan: planWithChanges }),
    problems: ['not_found'],
  }),
  applyPlan: endpoint({
    operationId: 'applyPlan',
    method: 'post',
    path: '/api/v1/plans/:id/apply',
    access: 'resources-write',
    tag: 'plans',
    summary: 'Apply a plan exactly as it was decided, as a whole or not at all',
    params: byId,
    body: z.strictObject({ digest }),
    reads: planReads,
    secret: true,
    reply: z.object({ plan: planWithChanges, generated }),
    problems: ['not_found', 'plan_outdated', 'plan_closed', 'approval_required', 'overloaded'],
  }),
  approvePlan: endpoint({
    ...review,
    operationId: 'approvePlan',
    path: '/api/v1/plans/:id/approve',
    summary: 'Approve a plan, which can then be applied once',
    body: z.strictObject({ digest }),
  }),
  rejectPlan: endpoint({
    ...review,
    operationId: 'rejectPlan',
    path: '/api/v1/plans/:id/reject',
    summary: 'Reject a plan, which can then no longer be applied',
    body: z.strictObject({
      digest,
      reason: text(500).default('').meta({ description: 'For whoever made the plan' }),
    }),
  }),
  exportDocuments: endpoint({
    operationId: 'exportDocuments',
    method: 'get',
    path: '/api/v1/export',
    access: 'resources-read',
    tag: 'plans',
    summary: 'Get documents of what exists, whose plan is unchanged',
    query: z.strictObject({
      set: exactText('Only objects of this set'),
      name: exactText('Only the object with this name'),
    }),
    reads: { rows: 20_000, bytes: 48 * MEBIBYTE },
    reply: z
      .object({
        text: z.string().meta({ description: 'YAML, in the order of the names' }),
        left_out: z.array(z.object({ ...object, reason: z.string() })).meta({
          description: 'What cannot be described by a document',
        }),
      })
      .meta({ id: 'ExportedDocuments' }),
    problems: ['payload_too_large', 'overloaded'],
  }),
};

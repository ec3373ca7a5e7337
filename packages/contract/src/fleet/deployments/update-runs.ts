import { z } from 'zod';
import { endpoint } from '../../shared/endpoint.ts';
import { anyValue } from '../../shared/list-query.ts';
import { changeReads, largeReads } from '../../shared/reads.ts';
import { timestamp } from '../../shared/timestamp.ts';
import { id, line, pagination, paging, uuid } from '../../shared/wire.ts';
import { byId, labelSelector } from '../resources/resource.ts';
import { plan as deploymentPlan } from './deployment.ts';

/** The maximum number of deployments and applications of a run, and of those that it updates at the same time. */
export const MAX_RUN_ITEMS = 500;
const MAX_WAVE = 50;

/** The maximum number of runs that have not ended. */
export const MAX_OPEN_RUNS = 20;

/** The states of a run. */
export const updateRunStates = ['running', 'completed', 'stopped', 'cancelled'] as const;

/** The states of the update of a deployment in a run. */
export const updateItemStates = ['waiting', 'updating', 'succeeded', 'failed', 'skipped'] as const;

const options = {
  wave: z.int().min(1).max(MAX_WAVE).default(1).meta({
    description:
      'How many deployments and applications are updated at the same time. A wave begins when the one before has ended',
  }),
  stop_after: z.int().min(1).max(MAX_WAVE).default(1).meta({
    description: 'The number of failed updates after which those that have not begun are skipped',
  }),
};

const ids = z
  .array(uuid)
  .min(1, 'must have at least 1 entry')
  .max(MAX_RUN_ITEMS, `must have at most ${MAX_RUN_ITEMS} entries`);

const newRun = z
  .strictObject({
    template: line(64).optional().meta({ description: 'Slug of a template: the deployments of copies of it' }),
    application: line(64)
      .optional()
      .meta({ description: 'Slug of an application of the catalog: the applications that are copies of it' }),
    label: labelSelector
      .optional()
      .meta({ description: 'The deployments and applications with these labels, such as `team=ml,gpu`' }),
    deployment_ids: ids.optional(),
    application_ids: ids.optional(),
    ...options,
  })
  .meta({
    description: `One of \`template\`, \`application\` and \`label\`, which select what has an available update, or ids. At most ${MAX_RUN_ITEMS} in all`,
    examples: [{ template: 'postgres', wave: 2 }],
  });

const item = z.object({
  deployment_id: id.nullable().meta({ description: 'null: it is an application' }),
  application_id: id.nullable().meta({ description: 'null: it is a deployment' }),
  name: z.string(),
  wave: z.int().nullable().meta({ description: 'From 1; null: it is skipped' }),
});

const plan = z
  .object({
    digest: z.string().meta({ description: 'Identifies the plan, for `expected` of a run' }),
    items: z.array(
      item.extend({
        expected: z.string().nullable().meta({ description: 'The digest of the planned update' }),
        skipped: z.string().nullable().meta({ description: 'Why it is not updated; null: it is' }),
        refusals: deploymentPlan.shape.refusals.meta({
          description: 'The reasons for which an update by itself would fail, too',
        }),
        template: deploymentPlan.shape.template.meta({
          description:
            'The versions of the template, or of the application of the catalog, before and after the update; null: no update is available',
        }),
        outage: deploymentPlan.shape.outage.nullable().meta({
          description: 'Whether the update interrupts the deployment; null: no update is available, or an application',
        }),
      }),
    ),
  })
  .meta({ id: 'UpdateRunPlan' });

const counts = z.object(
  Object.fromEntries(updateItemStates.map((state) => [state, z.int()])) as Record<
    (typeof updateItemStates)[number],
    z.ZodInt
  >, // each state is a member
);

const run = z
  .object({
    id,
    created_at: timestamp,
    created_by: z.string(),
    selection: z.object({
      template: z.string().nullable(),
      application: z.string().nullable(),
      label: z.string().nullable(),
      deployment_ids: z.array(z.string()).nullable(),
      application_ids: z.array(z.string()).nullable(),
    }),
    wave: z.int(),
    stop_after: z.int(),
    state: z.enum(updateRunStates).meta({
      description: '`stopped`: after `stop_after` failures; `cancelled`: by a caller. Updates that have begun continue',
    }),
    finished_at: timestamp.nullable(),
    counts: counts.meta({ description: 'The number of deployments and applications in each state' }),
  })
  .meta({ id: 'UpdateRun' });

const runWithItems = run
  .extend({
    items: z.array(
      item.extend({
        state: z.enum(updateItemStates),
        generation: z.int().nullable().meta({ description: 'The generation that the run has made' }),
        message: z.string(),
      }),
    ),
  })
  .meta({ id: 'UpdateRunWithItems' });

/** What the plan of each deployment reads. */
const reads = { rows: changeReads.rows * MAX_RUN_ITEMS, bytes: changeReads.bytes * MAX_RUN_ITEMS };
const common = { tag: 'update-runs', reads } as const;

/** Updates of several deployments and applications as one run. */
export const fleetUpdateRunEndpoints = {
  planUpdateRun: endpoint({
    ...common,
    operationId: 'planUpdateRun',
    method: 'post',
    path: '/api/v1/update-runs/plan',
    access: 'resources-read',
    summary: 'Plan the updates of several deployments and applications to the present catalog; nothing is stored',
    body: newRun,
    reply: z.object({ plan }),
    problems: ['overloaded'],
  }),
  createUpdateRun: endpoint({
    ...common,
    operationId: 'createUpdateRun',
    method: 'post',
    path: '/api/v1/update-runs',
    access: 'resources-write',
    summary: 'Update several deployments and applications to the present catalog in waves',
    body: newRun.extend({
      expected: line(64).optional().meta({ description: '`digest` of the plan. Default: what is planned now' }),
    }),
    status: 201,
    reply: z.object({ run: runWithItems }),
    problems: ['plan_outdated', 'too_many_runs', 'overloaded'],
  }),
  listUpdateRuns: endpoint({
    operationId: 'listUpdateRuns',
    method: 'get',
    path: '/api/v1/update-runs',
    access: 'resources-read',
    tag: 'update-runs',
    summary: 'List the update runs, newest first',
    query: z.strictObject({ ...paging, state: anyValue('state', z.enum(updateRunStates)) }),
    reads: { rows: 30, bytes: 64 * 1024, perRow: { rows: 1, bytes: 64 * 1024 } },
    reply: z.object({ runs: z.array(run), pagination }),
  }),
  getUpdateRun: endpoint({
    operationId: 'getUpdateRun',
    method: 'get',
    path: '/api/v1/update-runs/:id',
    access: 'resources-read',
    tag: 'update-runs',
    summary: 'Get an update run with its deployments and applications',
    params: byId,
    reads: { ...largeReads, rows: largeReads.rows + MAX_RUN_ITEMS },
    reply: z.object({ run: runWithItems }),
    problems: ['not_found'],
  }),
  cancelUpdateRun: endpoint({
    operationId: 'cancelUpdateRun',
    method: 'post',
    path: '/api/v1/update-runs/:id/cancel',
    access: 'resources-write',
    tag: 'update-runs',
    summary: 'Skip what has not begun of an update run',
    params: byId,
    reply: z.object({ run: runWithItems }),
    problems: ['not_found'],
  }),
};

import { z } from 'zod';
import { endpoint } from '../../shared/endpoint.ts';
import { anyId, anyName, anyValue } from '../../shared/list-query.ts';
import { documentedAs } from '../../shared/openapi-schema.ts';
import { largeReads, largeRowReads, manifestReads } from '../../shared/reads.ts';
import { flag, id, line, pagination, paging } from '../../shared/wire.ts';
import { variable } from '../../template/fields.ts';
import { byId, reachability, resourceQuery, resourceView } from '../resources/resource.ts';
import { acknowledge, adviceFilters } from './advice.ts';
import {
  bindings,
  changedDeployment,
  deployment,
  deploymentEvent,
  deploymentRevision,
  newDeployment,
  newMountVolumes,
  plan,
  plannedDeployment,
  refusals,
  secretUses,
} from './deployment.ts';
import { env, generatedValue, generatedValues } from './env.ts';
import { logQuery } from './logs.ts';
import { replicas } from './scaling.ts';
import { updateStates } from './updates.ts';
import { waiting } from './waiting.ts';

const BODY_LIMIT = 1024 * 1024;

/** The maximum number of instances whose usage one request reads. */
export const MAX_MEASURED_INSTANCES = 20;

const usage = z
  .object({
    instances: z
      .array(
        z.object({
          name: z.string(),
          cpus: z
            .number()
            .nullable()
            .meta({ description: 'CPUs that the instance uses, on average over about a second' }),
          memory_bytes: z.int().nullable().meta({ description: 'Memory in use, without caches that can be reclaimed' }),
          memory_limit_bytes: z.int().nullable().meta({ description: 'The limit that the engine reports' }),
        }),
      )
      .meta({
        description: `The first ${MAX_MEASURED_INSTANCES} instances. A value is null if the engine does not report it, for example because the instance does not run`,
      }),
    omitted: z.int().meta({ description: 'The number of other instances' }),
    note: z.string().nullable().meta({ description: 'Why values are missing, if the reason concerns all instances' }),
  })
  .meta({ id: 'Usage' });

const reply = z.object({ deployment });
/** The reply to a request that can generate values. */
const replyWithValues = z.object({ deployment, generated: generatedValues });
const pages = z.strictObject(paging);

const changes = {
  access: 'resources-write',
  tag: 'deployments',
  params: byId,
  headers: ['If-Match'],
  reply,
} as const;

const reads = { access: 'resources-read', tag: 'deployments', params: byId, problems: ['not_found'] } as const;

/** Deployments. */
export const fleetDeploymentEndpoints = {
  listDeployments: endpoint({
    operationId: 'listDeployments',
    method: 'get',
    path: '/api/v1/deployments',
    access: 'resources-read',
    tag: 'deployments',
    summary: 'List the deployments',
    query: resourceQuery(
      {
        phase: anyValue('phase', deployment.shape.phase),
        desired_state: anyValue('desired_state', deployment.shape.desired_state),
        workload_id: anyId('The workload'),
        template: anyName('Slug of the template, when the revision of the workload was created'),
        template_id: anyId('The template'),
        ...adviceFilters,
        update: anyValue('state of the available update', updateStates),
        host_id: anyId('The host on which the deployment runs'),
        cluster_id: anyId('The cluster on which the deployment runs'),
        reachability: anyValue('reachability of the target', reachability),
        ...resourceView('`env` and `instances` are empty'),
      },
      'problem',
    ),
    reads: largeRowReads,
    reply: z.object({ deployments: z.array(deployment), pagination }),
  }),
  createDeployment: endpoint({
    operationId: 'createDeployment',
    method: 'post',
    path: '/api/v1/deployments',
    access: 'resources-write',
    tag: 'deployments',
    summary: 'Create a deployment of a workload, a template or an image; a rejection states all reasons',
    headers: ['Idempotency-Key'],
    body: newDeployment,
    bodyLimit: BODY_LIMIT,
    status: 201,
    secret: true,
    reply: replyWithValues,
    problems: [
      'overloaded',
      'not_found',
      'name_taken',
      'unknown_workload',
      'unknown_target',
      'unsupported_value',
      'idempotency_key_reused',
      ...refusals,
    ],
  }),
  planDeployment: endpoint({
    operationId: 'planDeployment',
    method: 'post',
    path: '/api/v1/deployments/plan',
    access: 'resources-read',
    tag: 'deployments',
    summary:
      'Plan a deployment: manifest, placement with the reasons for each candidate, and changes; nothing is stored',
    body: plannedDeployment,
    bodyLimit: BODY_LIMIT,
    reply: plan,
    problems: [
      'not_found',
      'managed_by_application',
      'unknown_workload',
      'unknown_target',
      'unsupported_value',
      'no_template',
    ],
  }),
  getDeployment: endpoint({
    ...reads,
    operationId: 'getDeployment',
    method: 'get',
    path: '/api/v1/deployments/:id',
    summary: 'Get a deployment, or wait until it has a phase',
    query: z.strictObject(waiting('Compare `phase`, and `observed_generation` with `generation`')),
    reply,
    problems: ['not_found', 'overloaded'],
  }),
  updateDeployment: endpoint({
    ...changes,
    operationId: 'updateDeployment',
    method: 'put',
    path: '/api/v1/deployments/:id',
    summary:
      'Change labels, revision, replicas, autoscaling, environment, volumes or the desired state of a deployment',
    body: changedDeployment,
    bodyLimit: BODY_LIMIT,
    secret: true,
    reply: replyWithValues,
    problems: [
      'not_found',
      'managed_by_application',
      'version_conflict',
      'overloaded',
      'unsupported_value',
      ...refusals,
    ],
  }),
  deleteDeployment: endpoint({
    operationId: 'deleteDeployment',
    method: 'delete',
    path: '/api/v1/deployments/:id',
    access: 'resources-write',
    tag: 'deployments',
    summary:
      'Delete a deployment, volumes that were created for it with reclaim policy `delete`, and the workload that it created',
    params: byId,
    query: z.strictObject({
      keep_workload: flag.default(false).meta(
        documentedAs({
          type: 'boolean',
          default: false,
          description:
            'Keep the workload that the deployment created. A workload that was changed other than by updates from a template, or that another deployment uses, is always kept',
        }),
      ),
    }),
    headers: ['If-Match'],
    reply,
    problems: ['not_found', 'managed_by_application', 'in_use', 'version_conflict', 'overloaded'],
  }),
  startDeployment: endpoint({
    ...changes,
    operationId: 'startDeployment',
    method: 'post',
    path: '/api/v1/deployments/:id/start',
    summary: 'Start a stopped deployment on its target, if it still fits there',
    problems: ['not_found', 'managed_by_application', 'version_conflict', 'overloaded', ...refusals],
  }),
  stopDeployment: endpoint({
    ...changes,
    operationId: 'stopDeployment',
    method: 'post',
    path: '/api/v1/deployments/:id/stop',
    summary: 'Stop a deployment; its volumes remain, its allocated resources are released',
    problems: ['not_found', 'managed_by_application', 'version_conflict', 'overloaded'],
  }),
  restartDeployment: endpoint({
    ...changes,
    operationId: 'restartDeployment',
    method: 'post',
    path: '/api/v1/deployments/:id/restart',
    summary: 'Restart all replicas of a deployment',
    problems: ['not_found', 'managed_by_application', 'version_conflict', 'overloaded', ...refusals],
  }),
  scaleDeployment: endpoint({
    ...changes,
    operationId: 'scaleDeployment',
    method: 'post',
    path: '/api/v1/deployments/:id/scale',
    summary: 'Change the number of replicas of a deployment',
    body: z.strictObject({ replicas }),
    problems: ['not_found', 'managed_by_application', 'version_conflict', 'overloaded', ...refusals],
  }),
  rollbackDeployment: endpoint({
    ...changes,
    operationId: 'rollbackDeployment',
    method: 'post',
    path: '/api/v1/deployments/:id/rollback',
    summary: 'Restore revision, environment and replicas of an earlier generation',
    body: z.strictObject({
      generation: z
        .int()
        .min(1)
        .optional()
        .meta({ description: 'The generation to restore. Default: the previous one' }),
    }),
    problems: ['not_found', 'managed_by_application', 'version_conflict', 'overloaded', ...refusals],
  }),
  upgradeDeployment: endpoint({
    ...changes,
    operationId: 'upgradeDeployment',
    method: 'post',
    path: '/api/v1/deployments/:id/upgrade',
    summary: 'Update a deployment to the present template and the latest known image exactly as planned',
    body: z.strictObject({
      expected: line(64).meta({ description: '`digest` of the plan with `upgrade`' }),
      env: env.optional().meta({ description: 'As in the plan. Default: the variables of the deployment' }),
      volumes: newMountVolumes.optional(),
      acknowledge: acknowledge.optional(),
      force: z.boolean().default(false).meta({
        description: 'Also if a generation with the same configuration has failed (`held` of the plan)',
      }),
    }),
    bodyLimit: BODY_LIMIT,
    secret: true,
    reply: replyWithValues,
    problems: [
      'not_found',
      'managed_by_application',
      'version_conflict',
      'plan_outdated',
      'update_held',
      'overloaded',
      'unsupported_value',
      'no_template',
      ...refusals,
    ],
  }),
  checkDeploymentImage: endpoint({
    operationId: 'checkDeploymentImage',
    method: 'post',
    path: '/api/v1/deployments/:id/check-image',
    access: 'resources-write',
    tag: 'deployments',
    summary: 'Ask the registry which image the tag of a deployment names now, through the engine of its host',
    params: byId,
    reply,
    problems: ['not_found', 'not_supported'],
  }),
  abortRollout: endpoint({
    ...changes,
    operationId: 'abortRollout',
    method: 'post',
    path: '/api/v1/deployments/:id/rollout/abort',
    summary: 'End the rollout of a deployment, and restore its last good generation',
    problems: [
      'not_found',
      'managed_by_application',
      'version_conflict',
      'overloaded',
      'no_rollout',
      'nothing_to_restore',
      ...refusals,
    ],
  }),
  resumeRollout: endpoint({
    ...changes,
    operationId: 'resumeRollout',
    method: 'post',
    path: '/api/v1/deployments/:id/rollout/resume',
    summary: 'Continue a rollout that is held; its crashes and its time count from 0',
    problems: ['not_found', 'managed_by_application', 'version_conflict', 'no_rollout'],
  }),
  revealDeploymentValue: endpoint({
    operationId: 'revealDeploymentValue',
    method: 'post',
    path: '/api/v1/deployments/:id/values/:variable/reveal',
    access: 'values-reveal',
    tag: 'deployments',
    summary: 'Show a value that the fleet generated for a variable of a deployment; each call is recorded',
    params: z.strictObject({ id, variable }),
    secret: true,
    reply: generatedValue,
    problems: ['not_found', 'not_revealable', 'rate_limited'],
  }),
  listDeploymentEvents: endpoint({
    ...reads,
    operationId: 'listDeploymentEvents',
    method: 'get',
    path: '/api/v1/deployments/:id/events',
    summary: 'List operations and events of a deployment, newest first',
    query: pages,
    reads: largeReads,
    reply: z.object({ events: z.array(deploymentEvent), pagination }),
  }),
  listDeploymentRevisions: endpoint({
    ...reads,
    operationId: 'listDeploymentRevisions',
    method: 'get',
    path: '/api/v1/deployments/:id/revisions',
    summary: 'List the generations of a deployment, newest first',
    query: pages,
    reads: largeRowReads,
    reply: z.object({ revisions: z.array(deploymentRevision), pagination }),
  }),
  readDeploymentLogs: endpoint({
    ...reads,
    operationId: 'readDeploymentLogs',
    method: 'get',
    path: '/api/v1/deployments/:id/logs',
    summary: 'Read the log of an instance, or of all instances, streamed in lines',
    query: z.strictObject(logQuery),
    reply: z.string(),
    stream: 'text/plain',
    problems: ['not_found', 'overloaded'],
  }),
  getDeploymentUsage: endpoint({
    ...reads,
    operationId: 'getDeploymentUsage',
    method: 'get',
    path: '/api/v1/deployments/:id/usage',
    summary: 'Read from the engine how much CPU and memory the instances use now; nothing is stored',
    reads: largeReads,
    reply: z.object({ usage }),
    problems: ['not_found', 'overloaded'],
  }),
  getDeploymentManifest: endpoint({
    ...reads,
    operationId: 'getDeploymentManifest',
    method: 'get',
    path: '/api/v1/deployments/:id/manifest',
    summary: 'Get the manifest of a deployment, without values of secrets',
    reads: manifestReads,
    reply: z.object({ manifest: z.array(z.record(z.string(), z.unknown())), secrets: secretUses, bindings }),
  }),
};

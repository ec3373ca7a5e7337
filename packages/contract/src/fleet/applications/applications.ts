import { z } from 'zod';
import { applicationSpec } from '../../applications/index.ts';
import { endpoint } from '../../shared/endpoint.ts';
import { anyValue } from '../../shared/list-query.ts';
import { documentedAs } from '../../shared/openapi-schema.ts';
import { largeReads, MEBIBYTE } from '../../shared/reads.ts';
import { id, line, pagination, paging } from '../../shared/wire.ts';
import { applicationAdviceFilters } from '../deployments/advice.ts';
import { refusals } from '../deployments/deployment.ts';
import { generatedValue, generatedValues } from '../deployments/env.ts';
import { logQuery } from '../deployments/logs.ts';
import { updateStates } from '../deployments/updates.ts';
import { waiting } from '../deployments/waiting.ts';
import { byId, resourceQuery } from '../resources/resource.ts';
import {
  application,
  applicationEvent,
  applicationGeneration,
  applicationPlan,
  changedApplication,
  newApplicationBody,
  plannedApplication,
  scaledApplication,
  upgradedApplication,
} from './application.ts';

const BODY_LIMIT = 1024 * 1024;

const reply = z.object({ application });

/** What each part of an application reads. */
const READS = { rows: 1000, bytes: 32 * MEBIBYTE };

const changes = {
  access: 'resources-write',
  tag: 'applications',
  params: byId,
  headers: ['If-Match'],
  reads: READS,
  reply,
} as const;

const refused = ['not_found', 'version_conflict', 'overloaded', 'unsupported_value', ...refusals] as const;

const common = { tag: 'applications', params: byId, problems: ['not_found'] } as const;

/** Applications: several deployments that are created, changed and deleted together. */
export const fleetApplicationEndpoints = {
  listApplications: endpoint({
    operationId: 'listApplications',
    method: 'get',
    path: '/api/v1/applications',
    access: 'resources-read',
    tag: 'applications',
    summary: 'List the applications',
    query: resourceQuery({
      ...applicationAdviceFilters,
      update: anyValue('state of the available upgrade', updateStates),
    }),
    reads: { rows: 30, bytes: 64 * 1024, perRow: { rows: 70, bytes: 2 * MEBIBYTE } },
    reply: z.object({ applications: z.array(application), pagination }),
  }),
  createApplication: endpoint({
    operationId: 'createApplication',
    method: 'post',
    path: '/api/v1/applications',
    access: 'resources-write',
    tag: 'applications',
    summary: 'Create an application with all its parts on one target; a rejection states all reasons',
    headers: ['Idempotency-Key'],
    body: newApplicationBody,
    bodyLimit: BODY_LIMIT,
    status: 201,
    secret: true,
    reads: READS,
    reply: z.object({ application, generated: generatedValues }),
    problems: [
      'overloaded',
      'not_found',
      'name_taken',
      'not_adoptable',
      'plan_outdated',
      'unknown_target',
      'unsupported_value',
      'idempotency_key_reused',
      ...refusals,
    ],
  }),
  planApplication: endpoint({
    operationId: 'planApplication',
    method: 'post',
    path: '/api/v1/applications/plan',
    access: 'resources-read',
    tag: 'applications',
    summary: 'Plan an application: its target, the reasons against it, and what each part would run; nothing is stored',
    body: plannedApplication,
    bodyLimit: BODY_LIMIT,
    reads: READS,
    reply: applicationPlan,
    problems: [
      'not_found',
      'not_adoptable',
      'unknown_target',
      'unsupported_value',
      'update_held',
      'no_template',
      'deployment_refused',
    ],
  }),
  getApplication: endpoint({
    ...common,
    operationId: 'getApplication',
    method: 'get',
    path: '/api/v1/applications/:id',
    access: 'resources-read',
    summary: 'Get an application with the state of its parts, or wait until it has a phase',
    query: z.strictObject(waiting('Compare `phase`, and `observed_generation` with `generation` of each part')),
    reads: largeReads,
    reply,
    problems: ['not_found', 'overloaded'],
  }),
  getApplicationSpec: endpoint({
    ...common,
    operationId: 'getApplicationSpec',
    method: 'get',
    path: '/api/v1/applications/:id/spec',
    access: 'resources-read',
    summary: 'Get the specification of an application',
    reads: largeReads,
    reply: z.object({ spec: applicationSpec }),
  }),
  listApplicationEvents: endpoint({
    ...common,
    operationId: 'listApplicationEvents',
    method: 'get',
    path: '/api/v1/applications/:id/events',
    access: 'resources-read',
    summary: 'List operations and events of an application and its parts, newest first',
    query: z.strictObject(paging),
    reads: { ...largeReads, perRow: { rows: 35, bytes: 64 * 1024 } },
    reply: z.object({ events: z.array(applicationEvent), pagination }),
  }),
  listApplicationGenerations: endpoint({
    ...common,
    operationId: 'listApplicationGenerations',
    method: 'get',
    path: '/api/v1/applications/:id/generations',
    access: 'resources-read',
    summary: 'List the generations of an application, newest first',
    query: z.strictObject(paging),
    reads: { ...largeReads, perRow: { rows: 3, bytes: 3 * MEBIBYTE } },
    reply: z.object({ generations: z.array(applicationGeneration), pagination }),
  }),
  readApplicationLogs: endpoint({
    ...common,
    operationId: 'readApplicationLogs',
    method: 'get',
    path: '/api/v1/applications/:id/logs',
    access: 'resources-read',
    summary: 'Read the log of an instance of a part, or of all its instances, streamed in lines',
    query: z.strictObject({ part: line(63).meta({ description: 'Name of the part' }), ...logQuery }),
    reads: largeReads,
    reply: z.string(),
    stream: 'text/plain',
    problems: ['not_found', 'overloaded'],
  }),
  revealApplicationValue: endpoint({
    operationId: 'revealApplicationValue',
    method: 'post',
    path: '/api/v1/applications/:id/values/:name/reveal',
    access: 'values-reveal',
    tag: 'applications',
    summary: 'Show a value that the fleet generated for an application; each call is recorded',
    params: z.strictObject({ id, name: z.string() }),
    secret: true,
    reply: generatedValue,
    problems: ['not_found', 'not_revealable', 'rate_limited'],
  }),
  updateApplication: endpoint({
    ...changes,
    operationId: 'updateApplication',
    method: 'put',
    path: '/api/v1/applications/:id',
    summary: 'Change the specification, inputs, replicas, overrides or labels of an application, as one generation',
    body: changedApplication,
    bodyLimit: BODY_LIMIT,
    secret: true,
    reply: z.object({ application, generated: generatedValues }),
    problems: [...refused, 'plan_outdated', 'update_held', 'name_taken'],
  }),
  startApplication: endpoint({
    ...changes,
    operationId: 'startApplication',
    method: 'post',
    path: '/api/v1/applications/:id/start',
    summary: 'Start a stopped application, those parts first that others need',
    problems: [...refused],
  }),
  stopApplication: endpoint({
    ...changes,
    operationId: 'stopApplication',
    method: 'post',
    path: '/api/v1/applications/:id/stop',
    summary: 'Stop an application, those parts first that need others; volumes and values remain',
    problems: [...refused],
  }),
  restartApplication: endpoint({
    ...changes,
    operationId: 'restartApplication',
    method: 'post',
    path: '/api/v1/applications/:id/restart',
    summary: 'Restart all parts of an application in order',
    problems: [...refused],
  }),
  scaleApplication: endpoint({
    ...changes,
    operationId: 'scaleApplication',
    method: 'post',
    path: '/api/v1/applications/:id/scale',
    summary: 'Change the numbers of replicas of parts',
    body: scaledApplication,
    problems: [...refused, 'not_scalable'],
  }),
  upgradeApplication: endpoint({
    ...changes,
    operationId: 'upgradeApplication',
    method: 'post',
    path: '/api/v1/applications/:id/upgrade',
    summary: 'Change an application to the present one of the mirror exactly as planned',
    body: upgradedApplication,
    bodyLimit: BODY_LIMIT,
    secret: true,
    reply: z.object({ application, generated: generatedValues }),
    problems: [...refused, 'plan_outdated', 'update_held', 'no_template'],
  }),
  rollbackApplication: endpoint({
    ...changes,
    operationId: 'rollbackApplication',
    method: 'post',
    path: '/api/v1/applications/:id/rollback',
    summary: 'Restore an earlier generation of an application as a whole',
    body: z.strictObject({
      generation: z.int().min(1).optional().meta({
        description: 'The generation to restore. Default: the last one that was good before the present one',
      }),
    }),
    problems: [...refused, 'nothing_to_restore'],
  }),
  abortApplicationRollout: endpoint({
    ...changes,
    operationId: 'abortApplicationRollout',
    method: 'post',
    path: '/api/v1/applications/:id/rollout/abort',
    summary: 'End the update of an application, and restore its last good generation as a whole',
    problems: [...refused, 'no_rollout', 'nothing_to_restore'],
  }),
  resumeApplicationRollout: endpoint({
    ...changes,
    operationId: 'resumeApplicationRollout',
    method: 'post',
    path: '/api/v1/applications/:id/rollout/resume',
    summary: 'Continue an update that is held; the crashes and the time of its parts count from 0',
    problems: ['not_found', 'version_conflict', 'no_rollout'],
  }),
  deleteApplication: endpoint({
    operationId: 'deleteApplication',
    method: 'delete',
    path: '/api/v1/applications/:id',
    access: 'resources-write',
    tag: 'applications',
    summary: 'Delete an application with its parts, those that need others first',
    params: byId,
    query: z.strictObject({
      volumes: z
        .enum(['reclaim', 'keep'])
        .default('reclaim')
        .meta(
          documentedAs({
            type: 'string',
            enum: ['reclaim', 'keep'],
            default: 'reclaim',
            description:
              '`reclaim`: volumes that were created for it are deleted, unless their reclaim policy is `retain`. `keep`: all volumes stay',
          }),
        ),
    }),
    headers: ['If-Match'],
    reads: READS,
    reply: z.object({
      application,
      kept_volumes: z.array(z.string()).meta({ description: 'The names of the volumes that stay' }),
    }),
    problems: ['not_found', 'in_use', 'version_conflict', 'overloaded'],
  }),
};

import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import {
  changedDeployment,
  deployment,
  deploymentEvent,
  deploymentRevision,
  newDeployment,
  plan,
  plannedDeployment,
  replicas,
} from './fleet-deployment.ts';
import { byId, resourceQuery } from './fleet-resource.ts';
import { shownAs } from './shown.ts';
import { flag, line, pagination, paging, wholeNumber } from './wire.ts';

const BODY_LIMIT = 1024 * 1024;
const reply = z.object({ deployment });
const pages = z.strictObject(paging);

/** Why a deployment can be refused; with several reasons at once it is `deployment_refused`. */
const refusals = [
  'tier_too_low',
  'no_placement',
  'unknown_secret',
  'unknown_volume',
  'invalid_env',
  'deployment_refused',
] as const;

const changes = {
  access: 'resources-write',
  tag: 'deployments',
  params: byId,
  headers: ['If-Match'],
  reply,
} as const;

const reads = { access: 'resources-read', tag: 'deployments', params: byId, problems: ['not_found'] } as const;

/** What runs, and where. */
export const fleetDeploymentEndpoints = {
  listDeployments: endpoint({
    operationId: 'listDeployments',
    method: 'get',
    path: '/api/v1/deployments',
    access: 'resources-read',
    tag: 'deployments',
    summary: 'List the deployments',
    query: resourceQuery,
    reply: z.object({ deployments: z.array(deployment), pagination }),
  }),
  createDeployment: endpoint({
    operationId: 'createDeployment',
    method: 'post',
    path: '/api/v1/deployments',
    access: 'resources-write',
    tag: 'deployments',
    summary: 'Deploy a workload, or a template: refused with every reason at once, or placed',
    headers: ['Idempotency-Key'],
    body: newDeployment,
    bodyLimit: BODY_LIMIT,
    status: 201,
    reply,
    problems: ['not_found', 'name_taken', 'unknown_workload', 'unknown_target', 'idempotency_key_reused', ...refusals],
  }),
  planDeployment: endpoint({
    operationId: 'planDeployment',
    method: 'post',
    path: '/api/v1/deployments/plan',
    access: 'resources-read',
    tag: 'deployments',
    summary: 'What would come of it: manifest, placement with the reasons for and against every candidate, changes',
    body: plannedDeployment,
    bodyLimit: BODY_LIMIT,
    reply: plan,
    problems: ['not_found', 'unknown_workload', 'unknown_target'],
  }),
  getDeployment: endpoint({
    ...reads,
    operationId: 'getDeployment',
    method: 'get',
    path: '/api/v1/deployments/:id',
    summary: 'Get a deployment',
    reply,
  }),
  updateDeployment: endpoint({
    ...changes,
    operationId: 'updateDeployment',
    method: 'put',
    path: '/api/v1/deployments/:id',
    summary: 'Change labels, revision, replicas, environment, volumes or what is desired',
    body: changedDeployment,
    bodyLimit: BODY_LIMIT,
    problems: ['not_found', 'version_conflict', ...refusals],
  }),
  deleteDeployment: endpoint({
    operationId: 'deleteDeployment',
    method: 'delete',
    path: '/api/v1/deployments/:id',
    access: 'resources-write',
    tag: 'deployments',
    summary: 'End a deployment, with the volumes that were made for it and are not to be retained',
    params: byId,
    headers: ['If-Match'],
    reply,
    problems: ['not_found', 'version_conflict'],
  }),
  startDeployment: endpoint({
    ...changes,
    operationId: 'startDeployment',
    method: 'post',
    path: '/api/v1/deployments/:id/start',
    summary: 'Have it running again, where it still fits',
    problems: ['not_found', 'version_conflict', ...refusals],
  }),
  stopDeployment: endpoint({
    ...changes,
    operationId: 'stopDeployment',
    method: 'post',
    path: '/api/v1/deployments/:id/stop',
    summary: 'Stop it; its volumes stay, what it was given is free for others',
    problems: ['not_found', 'version_conflict'],
  }),
  restartDeployment: endpoint({
    ...changes,
    operationId: 'restartDeployment',
    method: 'post',
    path: '/api/v1/deployments/:id/restart',
    summary: 'Start every replica anew',
    problems: ['not_found', 'version_conflict', ...refusals],
  }),
  scaleDeployment: endpoint({
    ...changes,
    operationId: 'scaleDeployment',
    method: 'post',
    path: '/api/v1/deployments/:id/scale',
    summary: 'Have more or fewer replicas',
    body: z.strictObject({ replicas }),
    problems: ['not_found', 'version_conflict', ...refusals],
  }),
  rollbackDeployment: endpoint({
    ...changes,
    operationId: 'rollbackDeployment',
    method: 'post',
    path: '/api/v1/deployments/:id/rollback',
    summary: 'Have what an earlier generation was: its revision, environment and replicas',
    body: z.strictObject({
      generation: z.int().min(1).optional().meta({ description: 'The one before what is now, unless it is said' }),
    }),
    problems: ['not_found', 'version_conflict', ...refusals],
  }),
  listDeploymentEvents: endpoint({
    ...reads,
    operationId: 'listDeploymentEvents',
    method: 'get',
    path: '/api/v1/deployments/:id/events',
    summary: 'What was asked of it and what happened, the latest first',
    query: pages,
    reply: z.object({ events: z.array(deploymentEvent), pagination }),
  }),
  listDeploymentRevisions: endpoint({
    ...reads,
    operationId: 'listDeploymentRevisions',
    method: 'get',
    path: '/api/v1/deployments/:id/revisions',
    summary: 'What its generations were, the latest first',
    query: pages,
    reply: z.object({ revisions: z.array(deploymentRevision), pagination }),
  }),
  readDeploymentLogs: endpoint({
    ...reads,
    operationId: 'readDeploymentLogs',
    method: 'get',
    path: '/api/v1/deployments/:id/logs',
    summary: 'What one of its instances prints, line by line, as it prints it',
    query: z.strictObject({
      instance: line(253).optional().meta({ description: 'By its name; the first one unless it is said' }),
      tail: wholeNumber(0, 10_000)
        .default(1000)
        .meta(shownAs({ type: 'integer', minimum: 0, maximum: 10_000, default: 1000 })),
      follow: flag.default(false).meta(shownAs({ type: 'boolean', default: false })),
    }),
    reply: z.string(),
    stream: 'text/plain',
  }),
  getDeploymentManifest: endpoint({
    ...reads,
    operationId: 'getDeploymentManifest',
    method: 'get',
    path: '/api/v1/deployments/:id/manifest',
    summary: 'What its engine is given, without values of secrets',
    reply: z.object({ manifest: z.array(z.record(z.string(), z.unknown())) }),
  }),
};

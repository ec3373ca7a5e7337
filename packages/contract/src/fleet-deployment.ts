import { z } from 'zod';
import { changedMembers, condition, labels, newMembers, resourceMembers, resourceName } from './fleet-resource.ts';
import { volumeSize } from './fleet-storage.ts';
import { shownTarget, target } from './fleet-target.ts';
import { dnsLabel, variable } from './template-fields.ts';
import { timestamp } from './timestamp.ts';
import { ignored, line, text, uuid } from './wire.ts';

/** Where a deployment stands; `blocked`, `retrying` and `failed` come with a reason. */
export const phases = [
  'pending',
  'placing',
  'blocked',
  'applying',
  'starting',
  'retrying',
  'running',
  'degraded',
  'failed',
  'stopping',
  'stopped',
  'deleting',
] as const;

export const replicas = z.int().min(1).max(1000);

const env = z
  .record(variable, text(32_768))
  .refine((given) => Object.keys(given).length <= 256, 'must have at most 256 members')
  .meta({ description: 'Values of the variables that the workload knows' });

const volumes = z
  .record(
    dnsLabel,
    z
      .strictObject({ size: volumeSize.optional(), storage_id: uuid.optional() })
      .refine(
        ({ size, storage_id }) => size === undefined || storage_id === undefined,
        'must have size for a new volume, or storage_id for one that is there',
      ),
  )
  .refine((given) => Object.keys(given).length <= 256, 'must have at most 256 members')
  .meta({ description: 'By the names of the workload’s volume mounts; what is left out gets a new volume of 10Gi' });

const desired = z.enum(['running', 'stopped']);

const shown = {
  workload_id: z.string(),
  workload_name: z.string(),
  revision: z.int().meta({ description: 'Of the workload' }),
  template_id: z.string().nullable(),
  template_slug: z.string().nullable(),
  template_state: z.enum(['current', 'outdated', 'withdrawn']).nullable(),
  target: shownTarget.nullable(),
  replicas: z.int(),
  env: z.record(z.string(), z.string()),
  volumes: z.record(z.string(), z.object({ storage_id: z.string(), size: z.string() })),
  desired_state: desired,
  phase: z.enum(phases),
  reason: z.string().nullable(),
  message: z.string(),
  generation: z.int().meta({ description: 'Counts what was asked of engines' }),
  observed_generation: z
    .int()
    .nullable()
    .meta({ description: 'The generation that `phase` speaks of; null: none yet' }),
  conditions: z.array(condition),
  endpoints: z.array(z.object({ container_port: z.int(), protocol: z.string(), address: z.string() })),
  instances: z.array(z.object({ name: z.string(), phase: z.string(), message: z.string(), restarts: z.int() })),
  observed_at: timestamp.nullable(),
};

export const deployment = z.object({ ...resourceMembers, ...shown }).meta({ id: 'Deployment' });

const readOnly = ignored(
  'workload_name',
  'template_id',
  'template_slug',
  'template_state',
  'phase',
  'reason',
  'message',
  'generation',
  'observed_generation',
  'conditions',
  'endpoints',
  'instances',
  'observed_at',
);

/** What is to run, and where. */
export const newDeployment = z.strictObject({
  ...newMembers,
  workload_id: uuid.optional(),
  template: line(64).optional().meta({ description: 'Slug: makes a workload of the deployment’s name' }),
  revision: z.int().min(1).optional().meta({ description: 'Of the workload; the latest unless it is said' }),
  target: target.nullable().default(null).meta({ description: 'null: the fleet chooses' }),
  replicas: replicas.default(1),
  env: env.default({}),
  volumes: volumes.default({}),
  desired_state: desired.default('running'),
  ...readOnly,
});
export type NewDeployment = z.output<typeof newDeployment>;

const shownVolumes = z
  .record(dnsLabel, z.strictObject({ size: volumeSize.optional(), storage_id: uuid.optional() }))
  .meta({ description: 'For mounts that a new revision brings; a volume that is attached stays so' });

/** A change of what runs. It stays where it is, and keeps the volumes that it has. */
export const changedDeployment = z.strictObject({
  ...changedMembers,
  revision: z.int().min(1).optional(),
  replicas: replicas.optional(),
  env: env.optional(),
  volumes: shownVolumes.optional(),
  desired_state: desired.optional(),
  take_over: z
    .boolean()
    .optional()
    .meta({ description: 'Once, on a cluster: take fields of its objects that somebody else has set (FieldConflict)' }),
  ...ignored('workload_id', 'target'),
  ...readOnly,
});

/** A trial of a new deployment, or of a change of the one that is named: of that, what is left out stays. */
export const plannedDeployment = z.strictObject({
  deployment_id: uuid.optional().meta({ description: 'A change of this one is planned' }),
  name: resourceName.optional(),
  labels: labels.optional(),
  workload_id: uuid.optional(),
  template: line(64).optional(),
  revision: z.int().min(1).optional(),
  target: target.nullable().optional(),
  replicas: replicas.optional(),
  env: env.optional(),
  volumes: volumes.optional(),
  desired_state: desired.optional(),
});

const refusal = z.object({ code: z.string(), path: z.string(), message: z.string() }).meta({ id: 'Refusal' });

export const plan = z
  .object({
    ok: z.boolean().meta({ description: 'It would be done' }),
    refusals: z.array(refusal).meta({ description: 'Everything that stands against it' }),
    placement: z.object({
      target: shownTarget.nullable(),
      candidates: z.array(
        z.object({
          kind: z.enum(['cluster', 'host']),
          id: z.string(),
          name: z.string(),
          fits: z.boolean(),
          reasons: z.array(z.string()),
        }),
      ),
    }),
    manifest: z
      .array(z.record(z.string(), z.unknown()))
      .meta({ description: 'What the engine would be given, without values of secrets; empty where nothing fits' }),
    changes: z
      .array(
        z.object({
          action: z.enum(['create', 'replace', 'delete']),
          object: z.string(),
          paths: z.array(z.string()).meta({ description: 'What differs, as JSON pointers (RFC 6901)' }),
        }),
      )
      .meta({ description: 'Against what this deployment is now' }),
  })
  .meta({ id: 'Plan' });

export const deploymentEvent = z
  .object({
    id: z.string(),
    at: timestamp,
    kind: z.enum(['operation', 'event']).meta({ description: 'Somebody asked, or something happened' }),
    generation: z.int(),
    reason: z.string(),
    message: z.string(),
    actor: z.string().nullable().meta({ description: 'Who asked; null for what happened' }),
  })
  .meta({ id: 'DeploymentEvent' });

export const deploymentRevision = z
  .object({
    generation: z.int(),
    operation: z.string(),
    revision: z.int().meta({ description: 'Of the workload' }),
    replicas: z.int(),
    env: z.record(z.string(), z.string()),
    desired_state: desired,
    created_at: timestamp,
    created_by: z.string(),
  })
  .meta({ id: 'DeploymentRevision', description: 'What a generation was' });

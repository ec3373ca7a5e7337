import { z } from 'zod';
import { newApplicationSpec, partName } from '../../applications/index.ts';
import { timestamp } from '../../shared/timestamp.ts';
import { id, ignored, line, record, text, uuid } from '../../shared/wire.ts';
import { dnsLabel } from '../../template/fields.ts';
import { acknowledge, adviceOfTemplate, templateState } from '../deployments/advice.ts';
import { deployment, newVolume, phases, plan } from '../deployments/deployment.ts';
import { reference } from '../deployments/env.ts';
import { changedMembers, labels, newMembers, resourceMembers, resourceName } from '../resources/resource.ts';
import { target, targetReply } from '../resources/target.ts';
import { trust } from '../trust.ts';
import { overrides, overridesReply } from './overrides.ts';
import { applicationUpdates, applicationUpdatesReply, availableUpgrade } from './updates.ts';
import { changedUses, uses, usesReply } from './uses.ts';

/** The maximum number of instances of all parts together. */
export const MAX_INSTANCES = 1000;

const inputName = z
  .string()
  .regex(
    /^[a-z][a-z0-9_]{0,62}$/,
    'must be a lower-case letter, followed by at most 62 lower-case letters, digits and _',
  );

export const inputs = record(
  inputName,
  z
    .union(
      [text(32_768), z.number(), z.boolean(), reference.secret, reference.ofDeployment],
      'must be text, a number, true or false, or for a secret input the name of a secret',
    )
    .meta({ id: 'InputValue' }),
).meta({
  description:
    'By name of the inputs of the specification. One that is left out has its default. A secret input takes a key of a secret, or a generated value of a deployment',
});

const inputsReply = z
  .record(
    z.string(),
    z.union([
      z.string(),
      z.number(),
      z.boolean(),
      z.object({ secret: z.string(), key: z.string().optional() }),
      z.object({ deployment: z.string(), variable: z.string() }),
    ]),
  )
  .meta({ description: 'The given inputs. Values of secrets are not shown' });

export const replicas = record(partName, z.int().min(1).max(MAX_INSTANCES)).meta({
  description: `By name of the part, at most ${MAX_INSTANCES} in all. Only a part that is \`scalable\` can have more than 1`,
});

/** A volume mount of an application. */
export const mountName = z
  .string()
  .regex(
    /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?\/[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
    'must be a part and its volume mount, such as database/data',
  );

const mountVolumes = record(mountName, newVolume).meta({
  description: 'By part and volume mount, such as `database/data`. A mount that is left out gets a new volume of 10Gi',
});

const adopt = record(partName, dnsLabel, 32).meta({
  description:
    'By name of the part, the name of a deployment that becomes it, with its volumes. The deployments stand alone on one target, and their instances are replaced once',
});

const values = record(inputName, reference.ofDeployment, 32).meta({
  description: 'By name of a generated value, the generated value of a deployment that it has, instead of a new one',
});

const desired = z.enum(['running', 'stopped']);

/** What identifies a plan that a request applies. */
const expected = line(64).optional().meta({
  description:
    '`digest` of the plan: the request is refused if something has changed since. Default: what is decided now',
});

export const onFailure = z.enum(['auto', 'roll_back', 'stop']).meta({
  description:
    'What happens when a generation fails. `roll_back`: the fleet restores the last good one; `stop`: a person decides. `auto`: `roll_back`, unless a new instance has run with a volume to which it can write, or a job of `each_version` has completed',
});

const example = {
  name: 'blog',
  spec: {
    generated: [{ name: 'password' }],
    parts: [
      {
        name: 'database',
        image_name: 'library/mysql',
        image_tag: '8.4',
        ports: [{ containerPort: 3306 }],
        volume_mounts: [{ name: 'data', mountPath: '/var/lib/mysql' }],
        env: [{ name: 'MYSQL_ROOT_PASSWORD', value: `\${generated.password}` }],
      },
      {
        name: 'web',
        image_name: 'library/ghost',
        image_tag: '6',
        needs: [{ part: 'database' }],
        ports: [{ containerPort: 2368, publish: true }],
        env: [{ name: 'database__connection__password', value: `\${generated.password}` }],
      },
    ],
  },
};

const readOnly = ignored(
  'target_name',
  'generation',
  'good_generation',
  'failed_generation',
  'slug',
  'application_state',
  'application_revision',
  'advice',
  'outcome',
  'outcome_reason',
  'update',
  'phase',
  'reason',
  'message',
  'part',
  'generated',
  'managed_by',
  'parts',
);

const slug = line(64).optional().meta({ description: 'Slug of an application of the mirror, instead of `spec`' });

const whatRuns = {
  application: slug,
  spec: newApplicationSpec.optional().meta({ description: 'Exactly one of `application` and `spec`' }),
  inputs: inputs.default({}),
  replicas: replicas.default({}),
  volumes: mountVolumes.default({}),
  overrides: overrides.default({}),
  use: uses.default({}),
};

/** A new application: of what it consists, and where it runs. */
export const newApplicationBody = z
  .strictObject({
    ...newMembers,
    ...whatRuns,
    target: target
      .nullable()
      .default(null)
      .meta({ description: 'null: the fleet chooses the target, one for all parts' }),
    desired_state: desired.default('running'),
    on_failure: onFailure.default('auto'),
    updates: applicationUpdates.default({}),
    adopt: adopt.default({}),
    values: values.default({}),
    acknowledge: acknowledge.default([]),
    expected,
    ...readOnly,
  })
  .meta({ examples: [example] });

/** What a change of an application can set. Members that are left out do not change. */
const changes = {
  labels: labels.optional(),
  spec: newApplicationSpec.optional(),
  inputs: inputs.optional().meta({ description: 'By name of the inputs. Those that are left out do not change' }),
  replicas: replicas.optional(),
  volumes: mountVolumes.optional().meta({ description: 'For volume mounts that are new' }),
  overrides: overrides.optional().meta({
    description:
      'By name of the part, all that is set for it instead of what the specification says; `{}`: nothing. Parts that are left out do not change',
  }),
  use: changedUses.optional(),
};

export const changedApplication = z
  .strictObject({
    ...changedMembers,
    ...changes,
    on_failure: onFailure.optional(),
    acknowledge: acknowledge.default([]),
    updates: applicationUpdates.optional(),
    expected,
    force: z.boolean().default(false).meta({
      description: 'Also if a generation with the same content has failed',
    }),
    ...ignored('target', 'desired_state'),
    ...readOnly,
  })
  .meta({ examples: [{ inputs: { mail_password: { secret: 'smtp', key: 'password' } }, replicas: { web: 2 } }] });

/** A new application to plan, or with `application_id` a change of an application. */
export const plannedApplication = z
  .strictObject({
    application_id: uuid.optional().meta({
      description: 'Plan a change of this application, in which members that are left out do not change',
    }),
    upgrade: z.boolean().default(false).meta({
      description:
        'With `application_id`: plan the change to the present application of the mirror. Only `inputs` can be changed with it',
    }),
    name: resourceName.optional(),
    application: slug,
    ...changes,
    target: target.nullable().optional(),
    desired_state: desired.optional(),
    adopt: adopt.optional(),
    acknowledge: acknowledge.default([]),
  })
  .meta({ examples: [example] });

export const upgradedApplication = z.strictObject({
  expected: line(64).meta({ description: '`digest` of the plan with `upgrade`' }),
  inputs: inputs.optional().meta({ description: 'As in the plan' }),
  acknowledge: acknowledge.default([]),
  force: z.boolean().default(false).meta({ description: 'Also if a generation with the same content has failed' }),
});

export const scaledApplication = z.strictObject({ replicas });

const wait = z.object({
  part: z.string(),
  until: z.string().meta({ description: '`started`, `ready`, `finished`, `stopped` or `gone`' }),
});

const part = z.object({
  name: z.string(),
  deployment_id: id,
  deployment_name: z.string(),
  phase: z.enum(phases),
  reason: z.string().nullable().meta({
    description: '`WaitingForPart`: it begins when the parts in `waits_for` have that state',
  }),
  message: z.string(),
  waits_for: z.array(wait).meta({ description: 'The parts for which it still waits' }),
  image: z.string(),
  replicas: z.int(),
  generation: z.int(),
  observed_generation: z.int().nullable().meta({ description: 'The generation that the phase describes' }),
  endpoints: deployment.shape.endpoints,
  removed: z.boolean().meta({
    description: 'Whether the application no longer has the part, which is removed when the generation is good',
  }),
});

export const application = z
  .object({
    ...resourceMembers,
    target: targetReply.nullable(),
    target_name: z.string().nullable(),
    desired_state: desired,
    generation: z.int().meta({ description: 'Number of changes of what the application should run' }),
    good_generation: z.int().nullable().meta({ description: 'The last generation of which all parts ran; null: none' }),
    failed_generation: z.int().nullable().meta({
      description: 'The generation that has failed, if the present one restores the last good one; otherwise null',
    }),
    slug: z.string().nullable().meta({
      description: 'That of the application of the catalog, when the specification was copied; null: a request gave it',
    }),
    application_state: templateState.nullable().meta({
      description:
        '`outdated`: the application of the catalog has changed since the copy; `withdrawn`: it is no longer in the mirror; null: there is none',
    }),
    application_revision: z.int().nullable().meta({
      description: 'The revision of the application of the catalog that was copied; null: there is none, or not known',
    }),
    advice: adviceOfTemplate.nullable().meta({ description: 'null: it is no copy of an application of the catalog' }),
    on_failure: onFailure,
    updates: applicationUpdatesReply,
    update: availableUpgrade,
    outcome: z.enum(['good', 'failed', 'superseded']).nullable().meta({
      description: 'How the generation has ended: all its parts run, or one has failed; null: it has not',
    }),
    outcome_reason: z.string().nullable(),
    inputs: inputsReply,
    overrides: overridesReply,
    use: usesReply,
    generated: z.array(z.string()).meta({ description: 'The names of its generated values' }),
    managed_by: deployment.shape.managed_by,
    phase: z.enum(phases).meta({ description: 'That of the worst part, without jobs that have completed' }),
    reason: z.string().nullable(),
    message: z.string(),
    part: z.string().nullable().meta({ description: 'The part that the phase describes; null: all' }),
    parts: z.array(part),
  })
  .meta({ id: 'DeployedApplication' });

const refusal = z
  .object({
    part: z.string().nullable().meta({ description: 'null: it concerns the whole application' }),
    code: z.string(),
    path: z.string(),
    message: z.string(),
  })
  .meta({ id: 'ApplicationRefusal' });

export const applicationPlan = z
  .object({
    ok: z.boolean().meta({ description: 'The request would succeed' }),
    digest: z.string().meta({ description: 'Identifies the plan, for `expected` of the request' }),
    refusals: z.array(refusal).meta({ description: 'All reasons for which the request would fail' }),
    placement: z.object({
      target: targetReply.nullable(),
      rejected: z
        .array(z.object({ kind: z.enum(['cluster', 'host']), id, name: z.string(), reason: z.string() }))
        .meta({ description: 'Targets on which not all parts fit, with the reason: at most 20' }),
    }),
    generated: z.array(z.string()).meta({ description: 'The names of the values that would be generated' }),
    trust: trust.meta({ description: 'Who signed the application of the catalog' }),
    advice: adviceOfTemplate.nullable().meta({
      description: 'What the hub says about the application of the catalog that would run; null: there is none',
    }),
    changelog: plan.shape.changelog.meta({
      description:
        'With `upgrade`: what the publisher says about the changes since the copy that runs, as of the last sync; null: not known',
    }),
    parts: z.array(
      z.object({
        name: z.string(),
        deployment_name: z.string(),
        action: z.enum(['create', 'change', 'keep', 'remove', 'use']).meta({
          description: '`use`: a deployment that runs already serves instead of the part',
        }),
        image: z.string().meta({ description: 'Empty for a part that is used' }),
        overridden: z.array(z.string()).meta({
          description: 'What overrides set for the part, such as `image_tag`, `env.TZ` and `host_ports.53/udp`',
        }),
        bindings: plan.shape.bindings,
        manifest: plan.shape.manifest,
      }),
    ),
  })
  .meta({ id: 'ApplicationPlan' });

export const applicationEvent = z
  .object({
    id,
    at: timestamp,
    part: z.string().nullable().meta({ description: 'The part to which it happened; null: the application' }),
    kind: z.enum(['operation', 'event']),
    generation: z.int().meta({ description: 'The generation of the part, or of the application' }),
    reason: z.string(),
    message: z.string(),
    actor: z.string().nullable(),
  })
  .meta({ id: 'ApplicationEvent' });

export const applicationGeneration = z
  .object({
    generation: z.int(),
    operation: z.string(),
    spec_version: z.int(),
    inputs: inputsReply,
    replicas: z.record(z.string(), z.int()),
    overrides: overridesReply,
    use: usesReply,
    outcome: z.enum(['good', 'failed', 'superseded']).nullable(),
    outcome_reason: z.string().nullable(),
    outcome_at: timestamp.nullable(),
    created_at: timestamp,
    created_by: z.string(),
  })
  .meta({ id: 'ApplicationGeneration' });

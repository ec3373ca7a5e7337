import { z } from 'zod';
import { timestamp } from '../../shared/timestamp.ts';
import { id, ignored, line, record, uuid } from '../../shared/wire.ts';
import { changelogEntry } from '../../template/changelog.ts';
import { dnsLabel } from '../../template/fields.ts';
import { hostPorts, hostPortsReply, plannedHostPorts } from '../resources/host-ports.ts';
import { changedMembers, condition, labels, newMembers, resourceMembers, resourceName } from '../resources/resource.ts';
import { volumeSize } from '../resources/storage.ts';
import { target, targetReply } from '../resources/target.ts';
import { trust } from '../trust.ts';
import {
  acknowledge,
  adviceMembers,
  adviceOfTemplate,
  templateChange,
  templateRefusals,
  templateState,
} from './advice.ts';
import { dryRun } from './dry-run.ts';
import { env, envReply } from './env.ts';
import { instance } from './instances.ts';
import { obstacle } from './obstacle.ts';
import { autoscaling, autoscalingReply, replicas, scaledBy } from './scaling.ts';
import { availableUpdate, rollout, updates, updatesReply } from './updates.ts';
import { newWorkloadSpec } from './workloads.ts';

/**
 * The phases of a deployment. `retrying` and `failed` have a reason, and so have a job that has
 * completed and a service in a crash loop, which is `degraded`.
 */
export const phases = [
  'pending',
  'starting',
  'retrying',
  'running',
  'degraded',
  'failed',
  'stopping',
  'stopped',
  'deleting',
] as const;

/** The phases of a deployment that does not run as desired. */
export const problemPhases = ['degraded', 'failed', 'retrying'] as const satisfies readonly (typeof phases)[number][];

/**
 * The problems of a deployment that is rejected. With several different reasons, the problem is
 * `deployment_refused`.
 */
export const refusals = [
  ...templateRefusals,
  'template_untrusted',
  'by_hand_refused',
  'override_refused',
  'tier_too_low',
  'no_placement',
  'unknown_secret',
  'unknown_volume',
  'invalid_env',
  'deployment_refused',
] as const;

export const newVolume = z
  .strictObject({ size: volumeSize.optional(), storage_id: uuid.optional() })
  .refine(
    ({ size, storage_id }) => size === undefined || storage_id === undefined,
    'must have either size for a new volume or storage_id of an existing volume',
  )
  .meta({ not: { required: ['size', 'storage_id'] }, examples: [{ size: '10Gi' }] });

const volumes = record(dnsLabel, newVolume).meta({
  description: 'By name of the volume mounts of the workload. A mount that is left out gets a new volume of 10Gi',
});

const desired = z.enum(['running', 'stopped']);

/** When a requested change pulls the image. */
export const pulls = ['auto', 'always', 'missing', 'never'] as const;
const pull = z.enum(pulls).meta({
  description:
    'When a new deployment or revision, a restart or a start pulls the image. `auto`: `always` for the tag `latest`, otherwise `missing`',
});

const crashLoop = z
  .object({
    instance: z.string().meta({ description: 'The instance that the other members describe' }),
    attempt: z.int().meta({ description: 'The number of its last start, counted from the first one that failed' }),
    exit_code: z.int().nullable().meta({ description: 'That of the last failed attempt; null if it is not known' }),
    reason: z.string().meta({ description: '`CrashLoop`, `OOMKilled` or `Exited`' }),
    since: timestamp,
    next_try_at: timestamp.nullable().meta({
      description: 'When it is started again; null while an attempt runs, or if the engine does not state it',
    }),
    failed_start_at: timestamp
      .nullable()
      .meta({ description: 'When the last failed attempt was started, by the clock of the target' }),
  })
  .nullable()
  .meta({
    description:
      'A service whose process ends again and again, from its first failure until its health check has passed or it has run for 120 seconds. `phase` is `degraded` meanwhile',
  });

const observed = {
  workload_id: id,
  workload_name: z.string(),
  deletes_workload: z.boolean().meta({
    description:
      'Whether the deletion of the deployment deletes its workload: both were created by one request, the workload was not changed by hand, and no other deployment uses it',
  }),
  revision: z.int().meta({ description: 'Revision of the workload' }),
  template_id: id.nullable(),
  template_slug: z.string().nullable(),
  template_state: templateState.nullable(),
  ...adviceMembers,
  target: targetReply.nullable(),
  target_name: z.string().nullable().meta({ description: 'Name of the host or cluster; null without a target' }),
  replicas: z.int().meta({
    description: 'With `autoscaling` or `scaled_by: cluster`, the number at the start and after switching it off',
  }),
  autoscaling: autoscalingReply,
  scaled_by: scaledBy,
  current_replicas: z.int().nullable().meta({
    description:
      'The number that the Deployment in the cluster requested at `observed_at`; null: a host, a job, or not known',
  }),
  env: envReply,
  host_ports: hostPortsReply,
  volumes: z.record(z.string(), z.object({ storage_id: id, size: z.string() })),
  desired_state: desired,
  pull,
  image: z.object({
    reference: z.string().meta({ description: 'What the revision of the workload names' }),
    digest: z.string().nullable().meta({
      description: 'What the instances run; null: none run, it is not known, or they run different images',
    }),
    latest_digest: z.string().nullable().meta({
      description: 'On a host: what the tag named in its registry at `checked_at`; null: not known',
    }),
    checked_at: timestamp.nullable().meta({ description: 'When the registry last stated it; null: never' }),
    checking: z.boolean().meta({ description: 'Whether a check is requested or in progress' }),
    check_error: z.string().nullable().meta({ description: 'Why the last check failed; null: it has not' }),
  }),
  phase: z.enum(phases),
  reason: z.string().nullable(),
  message: z.string().meta({ description: 'What is happening, and in phase `pending` what the deployment waits for' }),
  generation: z.int().meta({ description: 'Number of changes of what the deployment should run' }),
  observed_generation: z
    .int()
    .nullable()
    .meta({ description: 'The generation that `phase` describes; null: none yet' }),
  conditions: z.array(condition),
  endpoints: z
    .array(
      z.object({
        container_port: z.int(),
        protocol: z.string(),
        address: z.string(),
        scope: z.string().meta({
          description:
            'From where the address can be reached: `loopback` (only from the machine of the host), `cluster` (only from within the cluster), `all` (all networks of the host), a network type such as `mesh` or `public`, or `unknown`: an address that the host no longer declares',
        }),
        scheme: z.enum(['http', 'https']).nullable().meta({
          description: 'Of the web page at the address, as `SVC_HTTP_PORTS` or the health check names it; null: none',
        }),
        instance: z.string().nullable().meta({
          description: 'The instance at the address; null on a cluster, whose addresses are those of all instances',
        }),
        ready: z.boolean().meta({ description: 'Whether something is ready at the address' }),
        current: z.boolean().meta({
          description:
            'Whether the instance has the present generation; on a cluster, whether all instances that are ready have it',
        }),
      }),
    )
    .meta({
      description:
        'The addresses of the instances that are ready, also of those that an update has not replaced yet. An address is left out before its instance is replaced',
    }),
  instances: z.array(instance),
  updates: updatesReply,
  update: availableUpdate,
  rollout,
  crash_loop: crashLoop,
  observed_at: timestamp.nullable(),
  application: z.object({ id, name: z.string(), part: z.string() }).nullable().meta({
    description: 'The application of which it is a part, which alone can change it; null: it stands alone',
  }),
  managed_by: z.object({ set: z.string(), file: z.string(), line: z.int() }).nullable().meta({
    description: 'The set of files that manages it, and the place of its document; null: none',
  }),
};

export const deployment = z
  .object({
    ...resourceMembers,
    labels: resourceMembers.labels.meta({
      description:
        'On a cluster, its objects have these labels, and its pods those that the cluster lists in `pod_label_keys`',
    }),
    ...observed,
  })
  .meta({ id: 'Deployment' });

const readOnly = ignored(
  'workload_name',
  'deletes_workload',
  'target_name',
  'template_id',
  'template_slug',
  'template_state',
  'template_revision',
  'advice',
  'image',
  'phase',
  'reason',
  'message',
  'generation',
  'observed_generation',
  'conditions',
  'endpoints',
  'instances',
  'update',
  'rollout',
  'crash_loop',
  'observed_at',
  'current_replicas',
  'application',
  'managed_by',
);

const example = { name: 'database', template: 'postgres', volumes: { data: { size: '20Gi' } } };

const spec = newWorkloadSpec.optional().meta({
  description: 'What to run, instead of a template; creates a workload with the name of the deployment',
  examples: [{ image_name: 'nginx', image_tag: '1.29.1', ports: [{ containerPort: 80 }] }],
});

/** A new deployment: what to run, and where. */
export const newDeployment = z
  .strictObject({
    ...newMembers,
    workload_id: uuid.optional(),
    template: line(64)
      .optional()
      .meta({ description: 'Slug of a template; creates a workload with the name of the deployment' }),
    spec,
    revision: z.int().min(1).optional().meta({ description: 'Revision of the workload. Default: the latest' }),
    target: target.nullable().default(null).meta({ description: 'null: the fleet chooses the target' }),
    replicas: replicas.default(1),
    autoscaling: autoscaling.default(null),
    scaled_by: scaledBy.default('fleet'),
    env: env.default({}),
    host_ports: hostPorts.default({}),
    volumes: volumes.default({}),
    desired_state: desired.default('running'),
    pull: pull.default('auto'),
    acknowledge: acknowledge.optional(),
    updates: updates.default({}),
    ...readOnly,
  })
  .meta({ examples: [example] });
export type NewDeployment = z.output<typeof newDeployment>;

/** The volumes that a change of a deployment can choose. */
export const newMountVolumes = record(
  dnsLabel,
  z.strictObject({ size: volumeSize.optional(), storage_id: uuid.optional() }),
).meta({
  description:
    'For volume mounts that a new revision adds, or whose loss is accepted. Other volumes do not change: another `size` or `storage_id` is refused',
});

const acceptedLosses = z.array(dnsLabel).max(100).meta({
  description:
    'Volume mounts whose volumes are lost (`VolumeLost`). Each gets a new, empty volume of the same size, or the one in `volumes`',
});

/** A change of a deployment. The deployment keeps its target and its volumes. */
export const changedDeployment = z.strictObject({
  ...changedMembers,
  revision: z.int().min(1).optional(),
  replicas: replicas.optional(),
  autoscaling: autoscaling.optional(),
  scaled_by: scaledBy.optional(),
  env: env.optional(),
  host_ports: hostPorts.optional(),
  volumes: newMountVolumes.optional(),
  accept_loss: acceptedLosses.optional(),
  desired_state: desired.optional(),
  pull: pull.optional(),
  acknowledge: acknowledge.optional(),
  updates: updates.optional(),
  take_over: z.boolean().optional().meta({
    description:
      'On a cluster, for this generation: take over fields of its objects that another field manager owns (FieldConflict), and the number of replicas (ReplicasSetInCluster)',
  }),
  ...ignored('workload_id', 'target'),
  ...readOnly,
});

/**
 * A new deployment to plan, or with `deployment_id` a change of a deployment, in which members that
 * are left out do not change.
 */
export const plannedDeployment = z
  .strictObject({
    deployment_id: uuid.optional().meta({ description: 'Plan a change of this deployment' }),
    upgrade: z.boolean().default(false).meta({
      description:
        'With `deployment_id`: plan the update to the present template of the workload, and to the latest known image of its tag. Only `env` and `volumes` can be changed with it',
    }),
    name: resourceName.optional(),
    labels: labels.optional(),
    workload_id: uuid.optional(),
    template: line(64).optional(),
    spec,
    revision: z.int().min(1).optional(),
    target: target.nullable().optional(),
    replicas: replicas.optional(),
    autoscaling: autoscaling.optional(),
    scaled_by: scaledBy.optional(),
    env: env.optional(),
    host_ports: hostPorts.optional(),
    volumes: volumes.optional(),
    accept_loss: acceptedLosses.optional(),
    desired_state: desired.optional(),
    pull: pull.optional(),
    acknowledge: acknowledge.optional(),
    updates: updates.optional(),
    dry_run: z.boolean().default(true).meta({
      description: 'Whether to ask the cluster, if it is one, about the objects. It can take up to 5 seconds',
    }),
  })
  .meta({ examples: [example] });

/** The maximum number of suitable candidates in a response, and of rejected ones. */
export const MAX_CANDIDATES_LISTED = 20;

/** A variable that receives a value of a secret. */
const secretUse = { variable: z.string(), secret: z.string(), key: z.string().nullable() };

/** The variables of a deployment that receive values of secrets. */
export const secretUses = z
  .array(z.object(secretUse))
  .meta({ description: 'The variables that receive values of secrets, by the name of the secret and its key' });

/** What the variables of a deployment receive from other deployments. */
export const bindings = z
  .array(
    z.object({
      variable: z.string(),
      deployment: z.string(),
      bound_variable: z.string().nullable().meta({ description: 'Its variable whose generated value is received' }),
      port: z.int().nullable().meta({ description: 'Its port whose address is received' }),
      address: z.string().nullable().meta({
        description: 'The address of the port, in the form that the variable requests; null before the first start',
      }),
      note: z.string().nullable().meta({
        description:
          'What the deployment also reaches because of the address: it joins another isolated network for it',
      }),
    }),
  )
  .meta({ description: 'The variables that receive values or addresses of deployments, also within a composed value' });

const isNewSecret = z.boolean().meta({
  description:
    'The workload asks for it, and the revision that was deployed before does not: the current one of the deployment, or for a new deployment the latest copy of the template (without a template, the latest revision of the workload) that a deployment has. Also true if none was deployed',
});

const refusal = z.object({ code: z.string(), path: z.string(), message: z.string() }).meta({ id: 'Refusal' });

/** The maximum number of entries of the changelog of a template or an application that a fleet knows. */
export const MAX_CHANGES_LISTED = 20;

export const plan = z
  .object({
    ok: z.boolean().meta({ description: 'The request would succeed' }),
    refusals: z.array(refusal).meta({ description: 'All reasons for which the request would fail' }),
    placement: z.object({
      target: targetReply.nullable(),
      candidates: z
        .array(
          z.object({
            kind: z.enum(['cluster', 'host']),
            id,
            name: z.string(),
            fits: z.boolean(),
            reasons: z.array(z.string()),
            obstacles: z.array(obstacle).meta({ description: 'The reasons against it, and how to remove each' }),
          }),
        )
        .meta({
          description: `The best suitable candidates, and the rejected ones with the fewest reasons: at most ${MAX_CANDIDATES_LISTED} each`,
        }),
      omitted: z
        .object({ suitable: z.int(), rejected: z.int() })
        .meta({ description: 'The number of candidates that the list omits' }),
    }),
    advice: adviceOfTemplate.nullable().meta({
      description: 'What the hub says about the template of what would run; null: no template',
    }),
    trust: trust.meta({ description: 'Who signed what would run' }),
    changelog: z
      .object({
        entries: z.array(changelogEntry).meta({ description: `Newest first, at most ${MAX_CHANGES_LISTED}` }),
        complete: z.boolean().meta({
          description: 'false: there can be earlier changes since the copy that the deployment runs',
        }),
      })
      .nullable()
      .meta({
        description:
          'With a `revision` that is a later copy of the template: what its publisher says about the changes since the copy that the deployment runs, as of the last sync; null: not known',
      }),
    template_changes: z.array(templateChange).meta({
      description: 'With a `revision` that is a copy of the current template: what the template changes',
    }),
    registry_credentials: z.object({ secret: z.string(), server: z.string(), is_new: isNewSecret }).nullable().meta({
      description: 'The pull secret, and the registry that receives it; null: the image is pulled anonymously',
    }),
    bindings,
    host_ports: plannedHostPorts,
    secrets: z.array(z.object({ ...secretUse, is_new: isNewSecret })).meta({
      description:
        'The variables that receive values of secrets. `key` is null if the secret does not have the key, or does not exist',
    }),
    service_account: z
      .object({
        name: z.string().meta({ description: '`default`: that of the namespace' }),
        token: z.boolean().meta({ description: 'Whether the program receives a token for the API of the cluster' }),
        is_new_token: isNewSecret,
      })
      .nullable()
      .meta({ description: 'The ServiceAccount of the pods on the target; null: the target is not a cluster' }),
    manifest: z.array(z.record(z.string(), z.unknown())).meta({
      description: 'What the engine would receive, without values of secrets; empty without a suitable target',
    }),
    changes: z
      .array(
        z.object({
          action: z.enum(['create', 'replace', 'delete']).meta({
            description:
              '`replace`: a container of a host is deleted and created again; an object of a cluster is patched',
          }),
          object: z.string(),
          paths: z.array(z.string()).meta({ description: 'The members that differ, as JSON pointers (RFC 6901)' }),
        }),
      )
      .meta({ description: 'Differences from the current generation of the deployment' }),
    replaces_instances: z.boolean().meta({ description: 'Whether the change replaces instances that run now' }),
    digest: z.string().nullable().meta({
      description: 'Identifies the planned change, for `expected` of an upgrade; null for a new deployment',
    }),
    values: z.array(z.object({ path: z.string(), from: z.string().nullable(), to: z.string().nullable() })).meta({
      description:
        'What the change sets to another value, such as `image` or `env.MODE`: at most 100, each of at most 200 characters. Values of secrets are not shown; null: not set',
    }),
    template: z
      .object({ from_version: z.string().nullable(), to_version: z.string().nullable() })
      .nullable()
      .meta({ description: 'The versions of the template before and after an upgrade; null for another change' }),
    image: z
      .object({
        reference: z.string().meta({ description: 'What the deployment names after the change' }),
        from_digest: z.string().nullable().meta({ description: 'What runs now; null: not known' }),
        to_digest: z
          .string()
          .nullable()
          .meta({ description: 'null: it is known when the target has pulled the image' }),
      })
      .meta({ description: 'The image' }),
    new_variables: z
      .array(z.object({ name: z.string(), required: z.boolean(), description: z.string(), default_value: z.string() }))
      .meta({ description: 'The variables that the workload declares after a change, but not before' }),
    rollout: z
      .object({
        extra_instances: z.int().meta({ description: 'How many instances more than `replicas` can run until its end' }),
        reason: z
          .string()
          .meta({ description: 'Why there are none on a host; empty if there are, or if nothing is replaced' }),
      })
      .meta({ description: 'How a change on a host replaces instances' }),
    outage: z
      .object({
        expected: z
          .boolean()
          .meta({ description: 'Whether an address does not answer for a time, or no instance runs' }),
        total: z.boolean().meta({
          description:
            'Whether no instance serves for a time. Otherwise clients that follow `endpoints` are not interrupted',
        }),
        reason: z.string(),
        addresses: z.array(z.string()).meta({ description: 'The present addresses that do not answer for a time' }),
        seconds: z.int().nullable().meta({
          description:
            'About how long, in addition to the time that an instance needs to stop; null without an outage, and until another change',
        }),
      })
      .meta({ description: 'Whether the change interrupts the deployment' }),
    held: z.object({ generation: z.int(), reason: z.string(), message: z.string(), at: timestamp }).nullable().meta({
      description: 'A generation with the same configuration that has failed; an upgrade then requires `force`',
    }),
    data: z
      .array(z.object({ volume: z.string(), note: z.string() }))
      .meta({ description: 'What the change means for the data of volumes' }),
    dry_run: z.array(dryRun).meta({
      description:
        'What the API server of the chosen cluster says about the objects in server-side dry runs: advice, which changes neither `ok` nor what a creation or change does. Empty on hosts, if the plan is refused, and if nothing would change',
    }),
  })
  .meta({ id: 'Plan' });

/**
 * A change from one value to another one. The first generation of a deployment changes from null.
 */
const changeOf = <T extends z.ZodType>(value: T) => z.object({ from: value.nullable(), to: value }).optional();

const operationDetails = z
  .object({
    revision: changeOf(z.int()),
    replicas: changeOf(z.int()),
    autoscaling: changeOf(autoscalingReply),
    scaled_by: changeOf(scaledBy),
    desired_state: changeOf(desired),
    host_ports: changeOf(hostPortsReply),
    env: z
      .array(z.string())
      .optional()
      .meta({ description: 'The names of the variables that were set, changed or removed' }),
  })
  .meta({ id: 'OperationDetails', description: 'Members that did not change are absent' });

export const deploymentEvent = z
  .object({
    id,
    at: timestamp,
    kind: z
      .enum(['operation', 'event'])
      .meta({ description: '`operation`: requested by a caller; `event`: happened to the deployment' }),
    generation: z.int(),
    reason: z.string(),
    message: z.string(),
    actor: z.string().nullable().meta({ description: 'The caller who requested the operation; null for an event' }),
    details: operationDetails
      .nullable()
      .meta({ description: 'What the operation changed in the desired state; null for an event, and for `reveal`' }),
  })
  .meta({ id: 'DeploymentEvent' });

export const deploymentRevision = z
  .object({
    generation: z.int(),
    operation: z.string(),
    revision: z.int().meta({ description: 'Revision of the workload' }),
    replicas: z.int(),
    autoscaling: autoscalingReply,
    scaled_by: scaledBy,
    env: envReply,
    host_ports: hostPortsReply,
    desired_state: desired,
    outcome: z.enum(['good', 'failed', 'superseded']).nullable().meta({
      description: 'How its rollout ended; null: it has not, or it is from before version 0.3.0',
    }),
    outcome_reason: z.string().nullable(),
    outcome_at: timestamp.nullable(),
    image_digest: z.string().nullable().meta({ description: 'What it ran when its rollout ended; null: not known' }),
    created_at: timestamp,
    created_by: z.string(),
  })
  .meta({ id: 'DeploymentRevision', description: 'The desired state of a generation' });

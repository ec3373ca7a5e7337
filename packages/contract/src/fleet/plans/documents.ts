import { z } from 'zod';
import { newApplicationSpec } from '../../applications/index.ts';
import { line, record } from '../../shared/wire.ts';
import { dnsLabel } from '../../template/fields.ts';
import { inputs, mountName, onFailure, replicas as partReplicas } from '../applications/application.ts';
import { overrides } from '../applications/overrides.ts';
import { applicationUpdates } from '../applications/updates.ts';
import { uses } from '../applications/uses.ts';
import { acknowledge } from '../deployments/advice.ts';
import { pulls } from '../deployments/deployment.ts';
import { env } from '../deployments/env.ts';
import { autoscaling, replicas, scaledBy } from '../deployments/scaling.ts';
import { updates } from '../deployments/updates.ts';
import { newWorkloadSpec } from '../deployments/workloads.ts';
import { hostPorts } from '../resources/host-ports.ts';
import { labels, resourceName } from '../resources/resource.ts';
import { volumeSize } from '../resources/storage.ts';

/** What happens to an object whose document is removed, if the plan prunes. */
const removals = ['keep', 'keep_data', 'delete_all'] as const;

const removal = z.enum(removals).meta({
  description:
    'What a plan that prunes does when the document is gone: `keep` the object, delete it and `keep_data` of its volumes, or `delete_all`. Default: `keep_data`. That of the last applied document counts',
});

const documentTarget = z
  .strictObject({ host: dnsLabel.optional(), cluster: dnsLabel.optional() })
  .refine(({ host, cluster }) => (host === undefined) !== (cluster === undefined), 'must have either host or cluster')
  .meta({ id: 'DocumentTarget', description: 'By name', examples: [{ host: 'gpu-1' }] });

const documentVolume = z
  .strictObject({ size: volumeSize.optional(), volume: dnsLabel.optional() })
  .refine(
    ({ size, volume }) => size === undefined || volume === undefined,
    'must have either size for a new volume or volume, the name of an existing one',
  )
  .meta({ not: { required: ['size', 'volume'] }, examples: [{ size: '10Gi' }] });

const documentVolumes = record(dnsLabel, documentVolume).meta({
  description: 'By name of the volume mounts of the workload. A mount that is left out gets a new volume of 10Gi',
});

const SOURCES = ['template', 'workload', 'spec'] as const;

/** The desired state of a deployment in a file: the members of the API, with references by name. */
const deploymentDocument = z
  .strictObject({
    kind: z.literal('deployment'),
    name: resourceName,
    labels: labels.optional(),
    template: line(64).optional().meta({ description: 'Slug of a template, whose version updates change' }),
    workload: dnsLabel.optional().meta({ description: 'Name of an existing workload' }),
    spec: newWorkloadSpec.optional().meta({ description: 'What to run. It is managed as a whole' }),
    revision: z
      .int()
      .min(1)
      .optional()
      .meta({ description: 'Of `workload`. Default for a new deployment: the latest' }),
    target: documentTarget.optional().meta({ description: 'Default: the fleet chooses it once, and keeps it' }),
    replicas: replicas.optional(),
    autoscaling: autoscaling.optional(),
    scaled_by: scaledBy.optional(),
    env: env.optional().meta({ description: 'Managed as a whole' }),
    host_ports: hostPorts.optional(),
    volumes: documentVolumes.optional(),
    desired_state: z.enum(['running', 'stopped']).optional(),
    pull: z.enum(pulls).optional(),
    updates: updates.optional(),
    acknowledge: acknowledge.optional(),
    on_removal: removal.optional(),
  })
  .check(({ value, issues }) => {
    const given = SOURCES.filter((source) => value[source] !== undefined);
    const problem = (path: string, message: string) =>
      issues.push({ code: 'custom', path: [path], message, input: value, continue: true });
    const [, second] = given;
    if (given.length === 0) problem('template', 'is required if neither workload nor spec is given');
    if (second !== undefined) problem(second, `must not be given with ${given[0]}`);
    if (value.revision !== undefined && value.workload === undefined)
      problem('revision', 'must be given only with workload');
  })
  .meta({ id: 'DeploymentDocument', description: 'A member that is left out is not managed by the file' });
export type DeploymentDocument = z.output<typeof deploymentDocument>;

/** The desired state of an application in a file. */
const applicationDocument = z
  .strictObject({
    kind: z.literal('application'),
    name: resourceName,
    labels: labels.optional(),
    application: line(64).optional().meta({
      description: 'Slug of an application of the mirror, whose version upgrades change',
    }),
    spec: newApplicationSpec.optional().meta({ description: 'What it consists of. It is managed as a whole' }),
    target: documentTarget.optional().meta({ description: 'Default: the fleet chooses it once, and keeps it' }),
    inputs: inputs.optional().meta({ description: 'Managed as a whole: one that is left out has its default' }),
    replicas: partReplicas.optional().meta({ description: 'By name of the part, managed as a whole' }),
    overrides: overrides.optional().meta({ description: 'By name of the part, managed as a whole' }),
    use: uses.optional().meta({ description: 'By name of the part, managed as a whole' }),
    volumes: record(mountName, documentVolume)
      .optional()
      .meta({ description: 'By part and volume mount. A mount that is left out gets a new volume of 10Gi' }),
    desired_state: z.enum(['running', 'stopped']).optional(),
    on_failure: onFailure.optional(),
    updates: applicationUpdates.optional(),
    acknowledge: acknowledge.optional(),
    on_removal: removal.optional(),
  })
  .refine(({ application, spec }) => (application === undefined) !== (spec === undefined), {
    path: ['application'],
    message: 'is required without spec, and must not be given with it',
  })
  .meta({ id: 'ApplicationDocument', description: 'A member that is left out is not managed by the file' });
export type ApplicationDocument = z.output<typeof applicationDocument>;

export type ObjectDocument = ApplicationDocument | DeploymentDocument;

/** The documents by their kinds. */
export const documentSchemas = { application: applicationDocument, deployment: deploymentDocument } as const;
export type DocumentKind = keyof typeof documentSchemas;

// Object.keys loses the names of the members, and that there is at least one.
export const documentKinds = Object.keys(documentSchemas) as [DocumentKind, ...DocumentKind[]];

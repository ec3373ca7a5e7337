import { isDeepStrictEqual } from 'node:util';
import { gpuCountOf, type PlacementRequirements, placementRequirementsOf } from '../../placement/candidates.ts';
import type { Placement } from '../../placement/place.ts';
import type { Draft } from '../draft.ts';
import { firstHostPort } from '../host-ports/refusals.ts';
import type { MountedVolume } from '../volumes.ts';
import type { PresentDeployment } from './present.ts';

/** The instance beside the replicas that a rollout uses, so that no instance ends before a new one is ready. */
export interface Extra {
  readonly instances: 0 | 1;
  /** Why an update runs without one, as a sentence; '' if it runs with one, or replaces nothing. */
  readonly reason: string;
}

/** No instance is replaced. */
export const NO_EXTRA: Extra = { instances: 0, reason: '' };

/** What is allocated to each instance of a deployment before a change. */
interface Before {
  readonly requirements: PlacementRequirements;
  readonly cpu_millis: number;
  readonly memory_bytes: number;
}

/** What a change replaces whose rollout replaces instances that run on a host; undefined for another change. */
export function replacedBy(
  { target, desiredState, workload, before, replacesInstances }: Draft,
  present: PresentDeployment | undefined,
): Before | undefined {
  const mustRun = before?.desired_state === 'running' && desiredState === 'running';
  if (!present || !mustRun || target?.kind !== 'host' || workload.spec.kind === 'job') return undefined;
  const { spec, replicas, extra_instances, cpu_millis, memory_bytes } = present;
  // A rollout in progress continues with its extra instance.
  if (!replacesInstances && extra_instances === 0) return undefined;
  const instances = replicas + extra_instances;
  return {
    requirements: placementRequirementsOf(spec, replicas),
    cpu_millis: Math.ceil(cpu_millis / instances),
    memory_bytes: Math.ceil(memory_bytes / instances),
  };
}

/** Why a change cannot have an extra instance, whatever the capacity of its host; undefined if it can. */
export function whyNoExtra(
  { workload, updates, hostPorts }: Draft,
  mounted: readonly MountedVolume[],
  { requirements }: Before,
): string | undefined {
  if (updates.order === 'stop_first') return 'The deployment is configured to end the old instance first.';
  const port = firstHostPort({ hostPorts });
  if (port !== undefined) return `Only one instance at a time can have the port of the host for ${port}.`;
  const exclusive = mounted.find(({ access_mode }) => access_mode === 'ReadWriteOnce');
  if (exclusive) return `Only one instance at a time can use the volume ${exclusive.name}.`;
  const wanted = placementRequirementsOf(workload.spec, requirements.replicas);
  const usesGpus = gpuCountOf(workload.spec) > 0 || requirements.per_replica.gpu_count > 0;
  // A new instance could otherwise get a GPU that an old one still uses.
  if (usesGpus && !isDeepStrictEqual(wanted, requirements)) return 'The change allocates other GPUs.';
  return undefined;
}

/** The requirements with an extra instance, while old and new instances run: each has the larger of both amounts. */
export const withExtra = (requirements: PlacementRequirements, before: Before): PlacementRequirements => ({
  ...requirements,
  replicas: requirements.replicas + 1,
  per_replica: {
    ...requirements.per_replica,
    cpu_millis: Math.max(requirements.per_replica.cpu_millis, before.cpu_millis),
    memory_bytes: Math.max(requirements.per_replica.memory_bytes, before.memory_bytes),
  },
});

/** Why the host of a deployment has no room for an extra instance. */
export function whyNoRoom({ assessments }: Placement): string {
  const [first] = assessments;
  return `Its host has no room for one instance more${first ? `: it ${first.reasons.join('; ')}` : ''}.`;
}

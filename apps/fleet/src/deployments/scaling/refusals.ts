import type { Placement } from '../../placement/place.ts';
import { milli } from '../../placement/quantities.ts';
import type { Draft } from '../draft.ts';
import type { Refusal } from '../refusals.ts';
import type { MountedVolume } from '../volumes.ts';
import { scalerOf } from './scaling.ts';

/** Refuses a deployment whose number of replicas the cluster cannot set. */
export function refusalsOfScaling(
  { autoscaling, scaledBy, workload: { spec }, target, desiredState }: Draft,
  mounted: readonly MountedVolume[],
  placement: Placement,
): Refusal[] {
  if (scalerOf(autoscaling, scaledBy) === 'fleet') return [];
  const path = autoscaling === null ? 'scaled_by' : 'autoscaling';
  const refusal = (message: string): Refusal => ({ code: 'deployment_refused', path, message });
  const only = autoscaling === null ? 'must be fleet' : 'must not be set';
  const exclusive = mounted.filter(({ access_mode }) => access_mode === 'ReadWriteOnce').map(({ mount }) => mount);
  // Placement assesses hosts for the other drafts.
  const isOnHost = target?.kind === 'host' && (desiredState === 'stopped' || placement.chosen !== undefined);
  return [
    ...(spec.kind === 'job' ? [refusal(`${only} for a job, whose number of replicas does not change`)] : []),
    ...(autoscaling !== null && milli(spec.cpu_request) === 0
      ? [
          refusal(
            'must not be set for a workload without a CPU request, of which the autoscaler measures the part that is used',
          ),
        ]
      : []),
    ...(exclusive.length > 0
      ? [refusal(`${only}, because only one replica can write to the ReadWriteOnce volumes (${exclusive.join(', ')})`)]
      : []),
    ...(isOnHost ? [refusal(`${only} on a host, where the fleet sets the number of replicas`)] : []),
  ];
}

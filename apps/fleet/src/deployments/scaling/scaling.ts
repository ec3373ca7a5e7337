import { type Autoscaling, autoscalingReply, type Scaler, scalers } from '@svc/contract/fleet';
import { z } from 'zod';
import { refuse } from '../refusals.ts';

/** The columns of a deployment for its number of replicas. */
export const scalingRow = z.object({
  replicas: z.int(),
  autoscaling: autoscalingReply,
  scaled_by: z.enum(scalers),
  handover: z.enum(['keep', 'set']).nullable(),
});

/** The number of replicas in the cluster at the last pass. */
export const observedScale = z.object({ replicas: z.int(), manager: z.string().nullable() });

interface Scaled {
  readonly replicas: number;
  readonly autoscaling: Autoscaling | null;
}

/** Who sets the number of replicas of a deployment that runs. */
export const scalerOf = (autoscaling: Autoscaling | null, scaledBy: Scaler): Scaler =>
  autoscaling === null ? scaledBy : 'cluster';

/** The number of replicas for which resources are allocated. */
export const countedReplicas = ({ replicas, autoscaling }: Scaled): number => autoscaling?.max_replicas ?? replicas;

interface ScalingChange {
  readonly replicas?: number | undefined;
  readonly autoscaling?: Autoscaling | null | undefined;
  readonly scaledBy?: Scaler | undefined;
}

interface StoredScaling extends z.output<typeof scalingRow> {
  readonly cluster_id: string | null;
  readonly observed_scale: z.output<typeof observedScale> | null;
}

interface ScalingAfter extends Scaled {
  readonly scaledBy: Scaler;
  readonly handover: StoredScaling['handover'];
}

/**
 * The number of replicas after a change, and who sets it. If the fleet sets it again, the number in
 * the cluster stays as it is, unless the change states another one than the deployment has.
 */
export function scalingAfter(before: StoredScaling, change: ScalingChange): ScalingAfter {
  const { replicas = before.replicas, autoscaling = before.autoscaling, scaledBy = before.scaled_by } = change;
  const after = { replicas, autoscaling, scaledBy, handover: null };
  if (before.cluster_id === null || scalerOf(autoscaling, scaledBy) === 'cluster') return after;
  const isHandedBack = scalerOf(before.autoscaling, before.scaled_by) === 'cluster';
  if (!isHandedBack && before.handover === null) return after;
  if (replicas !== before.replicas || before.handover === 'set') return { ...after, handover: 'set' };
  return { ...after, replicas: Math.max(1, before.observed_scale?.replicas ?? replicas), handover: 'keep' };
}

/**
 * @throws 422 for a request to scale a deployment whose number of replicas the cluster sets
 */
export function refuseScale({ autoscaling, scaled_by }: Pick<StoredScaling, 'autoscaling' | 'scaled_by'>): void {
  if (scalerOf(autoscaling, scaled_by) === 'fleet') return;
  const message = autoscaling
    ? 'is chosen by the autoscaler; change the bounds in autoscaling, or set it to null'
    : 'is set by programs of the cluster; set scaled_by to fleet first';
  refuse([{ code: 'deployment_refused', path: 'replicas', message }]);
}

import { t } from '../../../shared/texts/texts.ts';
import { formatCount } from '../../../shared/ui/display/format.ts';
import type { Deployment } from '../../api.ts';

type Scaling = Pick<Deployment, 'autoscaling' | 'scaled_by'>;

/** What a form has for the number of replicas of a deployment that runs. */
export interface ScalingDraft {
  readonly mode: 'fleet' | 'autoscaling' | 'cluster';
  readonly min: string;
  readonly max: string;
  readonly cpu: string;
}

export const firstScalingDraft: ScalingDraft = { mode: 'fleet', min: '1', max: '4', cpu: '80' };

export function scalingDraftOf({ autoscaling, scaled_by }: Scaling): ScalingDraft {
  if (autoscaling === null) return { ...firstScalingDraft, mode: scaled_by };
  return {
    mode: 'autoscaling',
    min: String(autoscaling.min_replicas),
    max: String(autoscaling.max_replicas),
    cpu: String(autoscaling.cpu_percent),
  };
}

export const scalingBodyOf = ({ mode, min, max, cpu }: ScalingDraft): Scaling => ({
  autoscaling:
    mode === 'autoscaling' ? { min_replicas: Number(min), max_replicas: Number(max), cpu_percent: Number(cpu) } : null,
  scaled_by: mode === 'cluster' ? 'cluster' : 'fleet',
});

/** How the number of replicas of a deployment is chosen. */
export function wordsOfScaling({ autoscaling, scaled_by }: Scaling): string {
  if (autoscaling) {
    return t('autoscaling from {min} to {max} at {cpu} % of the CPU', {
      min: formatCount(autoscaling.min_replicas),
      max: formatCount(autoscaling.max_replicas),
      cpu: formatCount(autoscaling.cpu_percent),
    });
  }
  return scaled_by === 'cluster' ? t('set by programs of the cluster') : t('set by the fleet');
}

/** The number of replicas: of a cluster the present one, and how it is chosen if the fleet does not set it. */
export function wordsOfReplicas(deployment: Deployment): string {
  const { replicas, current_replicas, autoscaling, scaled_by } = deployment;
  if (autoscaling === null && scaled_by === 'fleet' && (current_replicas ?? replicas) === replicas) {
    return formatCount(replicas);
  }
  return t('{present} now, {start} at the start; {scaling}', {
    present: current_replicas === null ? t('not known') : formatCount(current_replicas),
    start: formatCount(replicas),
    scaling: wordsOfScaling(deployment),
  });
}

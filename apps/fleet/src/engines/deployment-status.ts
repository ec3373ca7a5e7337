import type { Reason } from './errors.ts';
import type { DesiredEnd, Instance, Observation } from './observation.ts';

/** The summary of the state of a deployment. */
export type DeploymentStatus = Pick<Observation, 'phase' | 'reason' | 'message' | 'next'>;

/** Numbers of instances of a deployment. */
export interface InstanceCounts {
  readonly desired: number;
  /** Running and ready. */
  readonly up: number;
  /** Completed successfully, and not started again. */
  readonly completed: number;
  /** Of an earlier template, to be replaced. */
  readonly outdated: number;
  /** Being removed. */
  readonly terminating: number;
  /**
   * Whether the state of an instance changes without intervention, for example because it is
   * starting.
   */
  readonly isChanging: boolean;
}

/** The numbers of instances as text for operators. */
export function messageOfCounts({ desired, up, completed, outdated }: InstanceCounts): string {
  const done = completed > 0 ? `, ${completed} completed` : '';
  return `${up} of ${desired} up${done}${outdated > 0 ? `, ${outdated} still to be replaced` : ''}.`;
}

/** The status of a deployment that must run and has no failed instance. */
export function statusOfCounts(counts: InstanceCounts): DeploymentStatus {
  const phase = phaseOf(counts);
  const isInProgress = phase === 'starting' || phase === 'stopping';
  return withoutFailure(phase, messageOfPhase(phase, counts), isInProgress ? 'soon' : 'settled');
}

function phaseOf({ desired, up, completed, outdated, terminating, isChanging }: InstanceCounts) {
  const isInProgress = isChanging || outdated > 0 || terminating > 0;
  if (desired === 0) return isInProgress ? 'stopping' : 'stopped';
  if (isInProgress) return 'starting';
  if (completed === desired) return 'stopped';
  return up + completed === desired ? 'running' : 'degraded';
}

function messageOfPhase(phase: DeploymentStatus['phase'], counts: InstanceCounts): string {
  const { desired, terminating } = counts;
  if (desired === 0) return `It is scaled to 0 replicas.${terminating > 0 ? ` Still stopping: ${terminating}.` : ''}`;
  return phase === 'stopped' ? 'It has completed.' : messageOfCounts(counts);
}

/** A status without a failure. */
export const withoutFailure = (
  phase: DeploymentStatus['phase'],
  message: string,
  next: DeploymentStatus['next'] = 'settled',
): DeploymentStatus => ({ phase, reason: null, message, next });

interface Failure {
  readonly reason: Reason | null;
  readonly message: string;
  /** Whether at least one instance is running. */
  readonly anyRuns: boolean;
  /** Whether retrying cannot help until the specification or the environment changes. */
  readonly isPermanent: boolean;
  /** Whether the process of a service has ended. It stays degraded while it is started again and again. */
  readonly isCrash?: boolean;
}

/** The status of a deployment that must run and has a failure. */
export const withFailure = ({ reason, message, anyRuns, isPermanent, isCrash }: Failure): DeploymentStatus => ({
  phase: anyRuns || isCrash ? 'degraded' : isPermanent ? 'failed' : 'retrying',
  reason,
  message,
  next: isPermanent ? 'settled' : 'retry',
});

interface Removal {
  readonly kind: DesiredEnd['kind'];
  readonly actions: readonly string[];
  readonly failure: { readonly reason: Reason; readonly message: string } | undefined;
  /** The objects that still exist; '' if there are none. */
  readonly remaining: string;
  /** The instances that still exist. */
  readonly instances: readonly Pick<Instance, 'name' | 'restarts'>[];
  /** Whether the removal takes longer than expected. */
  readonly isOverdue?: boolean;
}

const WITHOUT_INSTANCES = { reason: null, instances: [], endpoints: [], volumes: [] } as const;

/** The observed state of a deployment that must not run. */
export function removalObservation(removal: Removal): Observation {
  const { kind, actions, failure, remaining, isOverdue = false } = removal;
  const isDone = remaining === '' && failure === undefined;
  const inProgress = kind === 'gone' ? 'deleting' : 'stopping';
  return {
    ...WITHOUT_INSTANCES,
    phase: isDone ? kind : inProgress,
    reason: failure?.reason ?? null,
    message: failure?.message ?? (isDone ? 'All containers are removed.' : remaining),
    instances: removal.instances.map((instance) => ({ ...instance, phase: 'stopping', message: 'is being stopped' })),
    actions,
    next: isDone ? 'settled' : failure || isOverdue ? 'retry' : 'soon',
  };
}

/** The observation if objects of the later generation `by` exist. */
export const supersededObservation = (generation: number, by: number, actions: readonly string[]): Observation => ({
  ...WITHOUT_INSTANCES,
  phase: 'starting',
  message: `Generation ${generation} is superseded on the engine by generation ${by}.`,
  actions,
  next: 'soon',
  supersededBy: by,
});

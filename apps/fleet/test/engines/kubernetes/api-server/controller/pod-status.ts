import type { IContainerStatus } from 'kubernetes-models/v1/ContainerStatus';
import type { IPodCondition } from 'kubernetes-models/v1/PodCondition';
import type { IPodStatus } from 'kubernetes-models/v1/PodStatus';
import { moment } from '../objects.ts';

/** Makes the status of a pod as its node or the scheduler writes it. */
export type PodStatusOf = () => IPodStatus;

const condition = (type: string, status: 'True' | 'False', more: Partial<IPodCondition> = {}): IPodCondition => ({
  type,
  status,
  lastTransitionTime: moment(),
  ...more,
});

const main = (state: IContainerStatus['state'], more: Partial<IContainerStatus> = {}): IContainerStatus => ({
  name: 'main',
  image: 'image',
  imageID: '',
  ready: state?.running !== undefined,
  restartCount: 0,
  ...(state && { state }),
  ...more,
});

const pending = (reason: string, message: string | undefined, more: Partial<IContainerStatus> = {}): IPodStatus => ({
  phase: 'Pending',
  conditions: [condition('PodScheduled', 'True'), condition('Ready', 'False', { reason: 'ContainersNotReady' })],
  containerStatuses: [main({ waiting: { reason, ...(message !== undefined && { message }) } }, more)],
});

const HOUR_MS = 3_600_000;

/** A pod that has been running and ready for `sinceMs` milliseconds. */
export const running =
  (sinceMs = HOUR_MS): PodStatusOf =>
  () => {
    const since = moment(Date.now() - sinceMs);
    return {
      phase: 'Running',
      conditions: [condition('PodScheduled', 'True'), condition('Ready', 'True', { lastTransitionTime: since })],
      containerStatuses: [main({ running: { startedAt: since } })],
    };
  };

/**
 * A pod whose container runs since a minute, and whose readiness has changed to false `ago`
 * milliseconds ago.
 */
export const notReady =
  (ago: number): PodStatusOf =>
  () => ({
    phase: 'Running',
    conditions: [
      condition('PodScheduled', 'True'),
      condition('Ready', 'False', { reason: 'ContainersNotReady', lastTransitionTime: moment(Date.now() - ago) }),
    ],
    containerStatuses: [main({ running: { startedAt: moment(Date.now() - 60_000) } }, { ready: false })],
  });

/** A pod whose node no longer reports its state: the cluster has set its readiness to false. */
export const unresponsive: PodStatusOf = () => ({
  phase: 'Running',
  conditions: [
    condition('PodScheduled', 'True'),
    condition('Ready', 'False', { lastTransitionTime: moment(Date.now() - 10_000) }),
    condition('ContainersReady', 'True', { lastTransitionTime: moment(Date.now() - 50_000) }),
  ],
  containerStatuses: [main({ running: { startedAt: moment(Date.now() - 60_000) } })],
});

export const creating: PodStatusOf = () => pending('ContainerCreating', undefined);

export const waiting =
  (reason: string, message?: string): PodStatusOf =>
  () =>
    pending(reason, message);

export const unschedulable =
  (message: string): PodStatusOf =>
  () => ({
    phase: 'Pending',
    conditions: [condition('PodScheduled', 'False', { reason: 'Unschedulable', message })],
  });

interface Ended {
  readonly exitCode: number;
  readonly reason?: string;
  readonly message?: string;
  readonly restarts?: number;
}

const terminated = ({ exitCode, reason = exitCode === 0 ? 'Completed' : 'Error', message }: Ended) => ({
  terminated: {
    exitCode,
    reason,
    ...(message !== undefined && { message }),
    startedAt: moment(),
    finishedAt: moment(),
  },
});

/** A pod whose container exits repeatedly and waits for its next restart. */
export const crashing =
  (ended: Ended): PodStatusOf =>
  () => ({
    ...pending('CrashLoopBackOff', 'back-off 10s restarting failed container=main pod=x', {
      lastState: terminated(ended),
      restartCount: ended.restarts ?? 1,
    }),
    phase: 'Running',
  });

/** A pod whose container exited and has just been restarted. */
export const restarted =
  (ended: Ended): PodStatusOf =>
  () => ({
    ...running(0)(),
    containerStatuses: [main({ running: { startedAt: moment() } }, { lastState: terminated(ended), restartCount: 1 })],
  });

/** A pod whose container has exited and is not restarted. */
export const ended =
  (how: Ended): PodStatusOf =>
  () => ({
    phase: how.exitCode === 0 ? 'Succeeded' : 'Failed',
    conditions: [condition('PodScheduled', 'True'), condition('Ready', 'False')],
    containerStatuses: [main(terminated(how))],
  });

export const evicted =
  (message: string): PodStatusOf =>
  () => ({ phase: 'Failed', reason: 'Evicted', message, conditions: [condition('Ready', 'False')] });

import type { IContainerStatus } from 'kubernetes-models/v1/ContainerStatus';
import type { IPodCondition } from 'kubernetes-models/v1/PodCondition';
import type { IPodStatus } from 'kubernetes-models/v1/PodStatus';
import { moment } from './objects.ts';

/** What becomes of a pod: its status, as its node or the scheduler writes it. */
export type Fate = () => IPodStatus;

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

/** It has been up for a while; `sinceMs` for how long. */
export const running =
  (sinceMs = HOUR_MS): Fate =>
  () => {
    const since = moment(Date.now() - sinceMs);
    return {
      phase: 'Running',
      conditions: [condition('PodScheduled', 'True'), condition('Ready', 'True', { lastTransitionTime: since })],
      containerStatuses: [main({ running: { startedAt: since } })],
    };
  };

export const creating: Fate = () => pending('ContainerCreating', undefined);

export const waiting =
  (reason: string, message?: string): Fate =>
  () =>
    pending(reason, message);

export const unschedulable =
  (message: string): Fate =>
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

/** It ends again and again, and waits for its next start. */
export const crashing =
  (ended: Ended): Fate =>
  () => ({
    ...pending('CrashLoopBackOff', 'back-off 10s restarting failed container=main pod=x', {
      lastState: terminated(ended),
      restartCount: ended.restarts ?? 1,
    }),
    phase: 'Running',
  });

/** It ended a moment ago, and is up again since. */
export const restarted =
  (ended: Ended): Fate =>
  () => ({
    ...running(0)(),
    containerStatuses: [main({ running: { startedAt: moment() } }, { lastState: terminated(ended), restartCount: 1 })],
  });

/** It has ended for good. */
export const ended =
  (how: Ended): Fate =>
  () => ({
    phase: how.exitCode === 0 ? 'Succeeded' : 'Failed',
    conditions: [condition('PodScheduled', 'True'), condition('Ready', 'False')],
    containerStatuses: [main(terminated(how))],
  });

export const evicted =
  (message: string): Fate =>
  () => ({ phase: 'Failed', reason: 'Evicted', message, conditions: [condition('Ready', 'False')] });

import { at, type Stored, type Tree, textAt } from '../objects.ts';
import type { ControlledCluster } from './controls.ts';
import { allOwnedBy, conditions, deletePod, isReady, makePods, podsOwnedBy } from './pods.ts';

/** Runs the pods of a Job until it is complete or has failed. */
export function reconcileJob(cluster: ControlledCluster, job: Stored): void {
  const { store } = cluster;
  if (job.metadata.deletionTimestamp || hasEnded(job)) return;
  const wanted = Number(at(job, 'spec.completions') ?? 1);
  const count = (phase: string) =>
    allOwnedBy(store, job.metadata.uid).filter((pod) => textAt(pod, 'status.phase') === phase).length;
  const isSuspended = at(job, 'spec.suspend') === true;
  const hasFailed = count('Failed') > Number(at(job, 'spec.backoffLimit') ?? 6);
  if (!isSuspended && !hasFailed) makePods(cluster, job, wanted - count('Succeeded') - podsOwnedBy(store, job).length);
  if (isSuspended || hasFailed) for (const pod of podsOwnedBy(store, job)) deletePod(store, pod);
  const active = podsOwnedBy(store, job);
  const jobConditions: Tree[] = [
    ...(count('Succeeded') >= wanted ? [{ type: 'Complete', status: 'True', reason: 'CompletionsReached' }] : []),
    ...(hasFailed ? [{ type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded' }] : []),
    ...(isSuspended ? [{ type: 'Suspended', status: 'True', reason: 'JobSuspended' }] : []),
  ];
  const status = {
    active: active.length,
    ready: active.filter(isReady).length,
    succeeded: count('Succeeded'),
    failed: count('Failed'),
    conditions: conditions(job.status, jobConditions),
  };
  store.put('jobs', { ...job, status });
}

const hasEnded = ({ status }: Stored): boolean =>
  ((Array.isArray(status?.conditions) ? status.conditions : []) as Tree[]).some(
    ({ type }) => type === 'Complete' || type === 'Failed',
  );

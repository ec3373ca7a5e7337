import { type DockerTimings, DEFAULT_DOCKER_TIMINGS as dockerTimings } from '../engines/docker/client.ts';
import {
  type KubernetesTimings,
  DEFAULT_KUBERNETES_TIMINGS as kubernetesTimings,
} from '../engines/kubernetes/client.ts';

/** Periods and delays of the reconciler, in milliseconds. */
export interface ReconcilerTimings {
  /**
   * Lease of a worker on a deployment. The worker renews it three times in this period. A worker
   * that has not renewed it for this long must not change anything, and another worker may take the
   * deployment.
   */
  readonly lease: number;
  /**
   * Wait between two searches for deployments that are due. A notification, or the end of a pass,
   * starts a search earlier.
   */
  readonly idle: number;
  /** Shortest wait between two searches. */
  readonly searchPause: number;
  /**
   * A pass that takes longer does not count as one of the concurrent passes, so that slow targets
   * do not delay others.
   */
  readonly slowPass: number;
  /** Time between the withdrawal of the addresses of an instance in a rollout and its end, in which clients learn it. */
  readonly drain: number;
  /** Wait of a worker after the database failed. */
  readonly afterError: number;
  /** Wait before the next reconciliation of a deployment whose host or cluster was not reached. */
  readonly afterUnreachable: number;
  /** Wait before the next reconciliation of a deployment that is changing. */
  readonly progress: number;
  /**
   * Wait before the next reconciliation of a deployment in which nothing is expected to change,
   * plus or minus a fifth.
   */
  readonly resync: number;
  /** The same for a deployment whose containers are compared in each check of its host. */
  readonly resyncCompared: number;
  /**
   * Wait before a failed reconciliation is repeated. It doubles with each failure in a row,
   * starting with twice this value.
   */
  readonly retry: number;
  /** Longest wait before a failed reconciliation is repeated. */
  readonly retryLimit: number;
  /** Wait between two searches for hosts and clusters whose check is due. */
  readonly checkIdle: number;
  /** Period of the check of a host or cluster that is online, plus or minus a tenth. */
  readonly check: number;
  /**
   * Wait before the check of an unreachable host or cluster is repeated. It doubles with each
   * failed check in a row.
   */
  readonly checkRetry: number;
  /** Longest wait before the check of an unreachable host or cluster is repeated. */
  readonly checkRetryLimit: number;
  /** Longest wait of a request for the first check of a host or cluster. */
  readonly firstCheck: number;
  /** Wait between two looks at the result of a first check. */
  readonly firstCheckPoll: number;
  /** Wait between two searches for deleted volumes. */
  readonly volumes: number;
  /** Wait between two searches for hosts and clusters to watch. */
  readonly watches: number;
  /** Time for which changes that watches report are collected, to store them with one statement. */
  readonly collect: number;
  /** Wait between a change that a watch reports and the reconciliation of it. */
  readonly afterChange: number;
  /** Wait between two passes of the update runs that have not ended. */
  readonly updates: number;
  /** Wait between two searches for deployments that are to be updated automatically. */
  readonly automaticUpdates: number;
  /** Wait between two searches for tags of images that are to be checked. A request starts a search earlier. */
  readonly imageChecks: number;
  /** Period of the check of a tag of an image, plus or minus a tenth. */
  readonly imageCheck: number;
  /** Wait before a failed check of a tag is repeated, plus or minus a tenth. */
  readonly imageCheckRetry: number;
  /** Longest wait of a request for the check of a tag. */
  readonly imageCheckWait: number;
  /** Longest wait for the first line of a log before the response with the log begins. */
  readonly logStart: number;
  /** Limits of the clients of container engines. */
  readonly docker: DockerTimings;
  /** Limits of the clients of clusters. */
  readonly kubernetes: KubernetesTimings;
}

/**
 * Milliseconds between a failed reconciliation and the next one. `failures` is the number of
 * failures in a row.
 */
export const backoffOf = (failures: number, { retry, retryLimit }: Pick<ReconcilerTimings, 'retry' | 'retryLimit'>) =>
  Math.min(retryLimit, retry * 2 ** Math.min(failures, 8));

export const DEFAULT_TIMINGS: ReconcilerTimings = {
  lease: 15_000,
  idle: 500,
  searchPause: 50,
  slowPass: 300,
  drain: 2000,
  afterError: 5000,
  afterUnreachable: 2000,
  progress: 1000,
  resync: 60_000,
  resyncCompared: 1_800_000,
  retry: 5000,
  retryLimit: 300_000,
  checkIdle: 1000,
  check: 30_000,
  checkRetry: 1000,
  checkRetryLimit: 60_000,
  firstCheck: 10_000,
  firstCheckPoll: 250,
  volumes: 2000,
  watches: 5000,
  collect: 200,
  afterChange: 1000,
  updates: 2000,
  automaticUpdates: 15_000,
  imageChecks: 15_000,
  imageCheck: 6 * 3_600_000,
  imageCheckRetry: 3_600_000,
  imageCheckWait: 10_000,
  logStart: 1000,
  docker: dockerTimings,
  kubernetes: kubernetesTimings,
};

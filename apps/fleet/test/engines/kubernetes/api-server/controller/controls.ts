import type { Admission } from '../admission/admission.ts';
import type { Store } from '../store.ts';
import { type PodStatusOf, running } from './pod-status.ts';

/** Settings for the behaviour of the cluster. */
export interface ClusterControls {
  /** The status of pods that are created from now on. */
  podStatus: PodStatusOf;
  /** Stops the controllers. */
  isFrozen: boolean;
  /** Keeps deleted pods until it is false. */
  delaysPodDeletion: boolean;
  bindsClaims: boolean;
  /** The reason for which the creation of pods is rejected. */
  refusesPods: string | undefined;
  /** Whether pods run on the node that the scheduler finds. Otherwise, all run on one node. */
  schedules: boolean;
}

/** A cluster with its settings. */
export interface ControlledCluster {
  readonly store: Store;
  readonly controls: ClusterControls;
  readonly admission: Admission;
  /** Why the last pods of an owner were not admitted, by its uid. */
  readonly refusedPods: Map<string, string>;
}

export const createControls = (): ClusterControls => ({
  podStatus: running(),
  isFrozen: false,
  delaysPodDeletion: false,
  bindsClaims: true,
  refusesPods: undefined,
  schedules: false,
});

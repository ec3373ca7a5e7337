import type { Tree } from '../objects.ts';
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
  /** Changes the spec of each new pod, as a mutating admission webhook does. */
  admitPod: (spec: Tree) => Tree;
  /** The reason for which the creation of pods is rejected. */
  refusesPods: string | undefined;
}

/** A cluster with its settings. */
export interface ControlledCluster {
  readonly store: Store;
  readonly controls: ClusterControls;
}

export const createControls = (): ClusterControls => ({
  podStatus: running(),
  isFrozen: false,
  delaysPodDeletion: false,
  bindsClaims: true,
  admitPod: (spec) => spec,
  refusesPods: undefined,
});

import { type Fate, running } from './fates.ts';
import type { Store } from './store.ts';

/** How a cluster goes on with what is asked of it: as the test says. */
export interface Hands {
  /** What becomes of pods that are made from now on. */
  fate: Fate;
  /** Controllers do nothing. */
  isFrozen: boolean;
  /** Pods that are deleted are not gone before this is over. */
  keepsDying: boolean;
  bindsClaims: boolean;
  /** Why no pod may be made. */
  refusesPods: string | undefined;
}

/** A cluster of which things are moved. */
export interface Moved {
  readonly store: Store;
  readonly hands: Hands;
}

export const hands = (): Hands => ({
  fate: running(),
  isFrozen: false,
  keepsDying: false,
  bindsClaims: true,
  refusesPods: undefined,
});

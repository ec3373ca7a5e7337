import type { Reason } from '../errors.ts';
import type { Instance } from '../observation.ts';

/** How a pod stands, and why it is not up. Words of its cluster in it are still to be cleaned. */
export interface State {
  readonly phase: Instance['phase'];
  readonly message: string;
  readonly reason: Reason | null;
  /** It goes no better unless somebody changes something. */
  readonly isForGood?: boolean;
  /** There may be more to say of it among the events of its cluster. */
  readonly isVague?: boolean;
}

import type { KindOf } from '../kinds.ts';
import type { Stored } from '../objects.ts';

/** An object that is about to be stored. */
export interface Candidate {
  readonly kind: KindOf;
  readonly object: Stored;
  readonly isNew: boolean;
  readonly isDryRun: boolean;
}

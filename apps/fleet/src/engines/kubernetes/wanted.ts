import type { KubernetesManifest } from '../../render/kubernetes.ts';
import type { Fence } from '../fence.ts';
import type { Running as Base, Ending } from '../wanted.ts';
import type { Client } from './cluster-client.ts';
import type { Found } from './objects.ts';

/** What is to be in a cluster. */
export type Wanted = Running | Ending;

/** What is to run. */
export interface Running extends Base {
  readonly manifest: KubernetesManifest<'values'>;
  /** Take over fields that somebody else has set: a person has said so. */
  readonly takeOver?: boolean;
}

/** A pass under way: what it found, and what it has done. */
export interface Work {
  readonly client: Client;
  readonly wanted: Running;
  readonly fence: Fence;
  readonly found: readonly Found[];
  readonly actions: string[];
  /** What must be gone before the pass can go on, by name. */
  readonly awaited: string[];
}

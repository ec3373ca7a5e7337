import type { DockerManifest } from '../../render/docker.ts';
import type { EngineFailure } from '../errors.ts';
import type { Client } from './engine-client.ts';

/** What is to be on a machine. */
export type Wanted =
  | {
      readonly kind: 'running';
      readonly manifest: DockerManifest<'values'>;
      /** Start again what has crashed: its wait is over. */
      readonly retry?: boolean;
      /** This generation ran before: what is missing now has been taken away by somebody. */
      readonly settled?: boolean;
      /** Names of volumes that were there before: one that is gone is lost, and not made anew. */
      readonly bound?: readonly string[];
    }
  | { readonly kind: 'stopped' }
  /** Nothing, for good; the volumes named go with it. */
  | { readonly kind: 'gone'; readonly volumes: readonly string[] };

/** On whose behalf a pass is made. */
export interface Fence {
  readonly deploymentId: string;
  /** What was made for a later one is left alone. */
  readonly generation: number;
  /** Ends the pass between two steps; what is done stays done. */
  readonly signal?: AbortSignal | undefined;
}

/** What is to run. */
export type Running = Extract<Wanted, { kind: 'running' }>;

/** A pass under way: what it has done, and what went wrong, by the ordinal of the container. */
export interface Work {
  readonly client: Client;
  readonly wanted: Running;
  readonly fence: Fence;
  readonly actions: string[];
  readonly troubles: Map<number, EngineFailure>;
  readonly volumes: string[];
}

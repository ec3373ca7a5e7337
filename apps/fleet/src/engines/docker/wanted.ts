import type { DockerManifest } from '../../render/docker.ts';
import type { EngineFailure } from '../errors.ts';
import type { Fence } from '../fence.ts';
import type { Running as Base, Ending } from '../wanted.ts';
import type { Client } from './engine-client.ts';

/** What is to be on a machine. */
export type Wanted = Running | Ending;

/** What is to run. */
export interface Running extends Base {
  readonly manifest: DockerManifest<'values'>;
  /** Start again what has crashed: its wait is over. */
  readonly retry?: boolean;
}

/** A pass under way: what it has done, and what went wrong, by the ordinal of the container. */
export interface Work {
  readonly client: Client;
  readonly wanted: Running;
  readonly fence: Fence;
  readonly actions: string[];
  readonly troubles: Map<number, EngineFailure>;
  readonly volumes: string[];
}

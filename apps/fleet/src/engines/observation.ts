import type { Reason } from './errors.ts';

/** On whose behalf a pass is made. */
export interface Fence {
  readonly deploymentId: string;
  /** What was made for a later one is left alone. */
  readonly generation: number;
  /** Ends the pass between two steps; what is done stays done. */
  readonly signal?: AbortSignal | undefined;
}

/** Of what is to run on any engine, beside its manifest. */
export interface Running {
  readonly kind: 'running';
  /** This generation ran before: what is missing now has been taken away by somebody. */
  readonly settled?: boolean;
  /** Names of volumes that were there before: one that is gone is lost, and not made anew. */
  readonly bound?: readonly string[];
}

/** What is to end. */
export type Ending =
  | { readonly kind: 'stopped' }
  /** Nothing, for good; the volumes named go with it. */
  | { readonly kind: 'gone'; readonly volumes: readonly string[] };

/** Which lines of a log are wanted. */
export interface LogOptions {
  /** How many of the last lines; at most 10 000, which is also what is given where nothing is said. */
  readonly tail?: number;
  readonly since?: Date;
  /** Goes on with what is written, until the container ends or the caller stops. */
  readonly follow?: boolean;
  /** Ends it at any time, also while nothing is written. */
  readonly signal?: AbortSignal;
}

export const MOST_LINES = 10_000;
export const MAX_LINE = 16_384;

/** One copy of a deployment, as its engine has it. */
export interface Instance {
  readonly name: string;
  readonly phase:
    | 'missing'
    | 'created'
    | 'starting'
    | 'running'
    | 'unhealthy'
    | 'paused'
    | 'crashed'
    | 'stopping'
    | 'stopped'
    | 'completed'
    | 'failed';
  readonly message: string;
  /** How often the engine started it again by itself. */
  readonly restarts: number;
}

/** Where a port of an instance that is up is reached. */
export interface Endpoint {
  readonly container_port: number;
  readonly protocol: string;
  readonly address: string;
}

/** How a deployment was found after a pass, and what the pass did. Nothing in it holds a value of a variable. */
export interface Observation {
  readonly phase:
    | 'starting'
    | 'running'
    | 'degraded'
    | 'retrying'
    | 'failed'
    | 'stopping'
    | 'stopped'
    | 'deleting'
    | 'gone';
  readonly reason: Reason | null;
  readonly message: string;
  readonly instances: readonly Instance[];
  readonly endpoints: readonly Endpoint[];
  /** Names of the wanted volumes that are there now. */
  readonly volumes: readonly string[];
  /** What was done, each in a few words for an event: `created web-0`. */
  readonly actions: readonly string[];
  /**
   * When to come again: `soon` as things are moving, `retry` after a wait that grows (and with `retry` wanted), `settled`
   * at the next round, as nothing changes by itself.
   */
  readonly next: 'soon' | 'retry' | 'settled';
  /** Objects of a later generation are there: nothing was touched, and somebody else is at work. */
  readonly overtaken: boolean;
}

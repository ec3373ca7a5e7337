import type { Reason } from './errors.ts';

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

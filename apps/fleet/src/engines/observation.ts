import type { CrashReason, NetworkFailure, Reason } from './errors.ts';

/** The deployment and generation that a reconciliation acts for. */
export interface Fence {
  readonly deploymentId: string;
  /** Objects of later generations are not changed. */
  readonly generation: number;
  /** Aborts the reconciliation between two steps. Completed steps are not undone. */
  readonly signal?: AbortSignal | undefined;
  /** Reports a step that can take minutes, for the message of a deployment in phase `pending`. */
  readonly report?: ((message: string) => Promise<void>) | undefined;
  /**
   * Records the image that new containers of the generation run, which is stored at the end of the
   * reconciliation. `notPulled`: why a requested pull failed, if the image was present before.
   */
  readonly recordImage?: ((image: HostImage, notPulled?: Failure) => void) | undefined;
}

interface Failure {
  readonly reason: Reason;
  readonly message: string;
}

/** The number of replicas that a cluster has been asked for. */
export interface ObservedScale {
  readonly replicas: number;
  /**
   * The field manager that has set another number than the fleet, which has left it; null if there
   * is none.
   */
  readonly manager: string | null;
  /** Whether the fleet has taken over this number as it was. */
  readonly isKept: boolean;
}

/** An image on a host. */
export interface HostImage {
  /** The reference by which it was found. */
  readonly reference: string;
  /** Its id on the engine. */
  readonly id: string;
  /** The digest of its manifest; null for an image that was not pulled from a registry. */
  readonly digest: string | null;
}

/** The part of the desired state that is common to all engines, without the manifest. */
export interface DesiredRunning {
  readonly kind: 'running';
  /**
   * Whether this generation has run before: an object that is missing now was removed outside the
   * fleet.
   */
  readonly settled?: boolean;
  /**
   * Names of volumes that existed before. If one is missing, it is lost; it is not created again.
   */
  readonly bound?: readonly string[];
}

/** The desired state of a deployment that must not run. */
export type DesiredEnd =
  | { readonly kind: 'stopped' }
  /**
   * Deleted permanently, together with the named volumes, and in a cluster with what is left of the
   * application of which it was the last part.
   */
  | { readonly kind: 'gone'; readonly volumes: readonly string[]; readonly application?: string | null };

/** Selects lines of a log. */
export interface LogOptions {
  /** The name of a container of a pod. Default: that of the program. */
  readonly container?: string | undefined;
  /** Number of lines from the end of the log. Default and maximum: `MAX_LINES`. */
  readonly tail?: number;
  readonly since?: Date | undefined;
  /** Whether each line begins with its time, as the engine writes it. */
  readonly timestamps?: boolean;
  /** The log of the container before it was last started again. */
  readonly previous?: boolean;
  /** Continues with new lines until the container terminates or the caller stops reading. */
  readonly follow?: boolean;
  /**
   * Whether to wait for the next start of a followed container that has terminated. Asked again
   * while it waits. By default, it does not wait.
   */
  readonly continues?: () => Promise<boolean>;
  /** Is called when the engine has been asked, and has the log. */
  readonly onFound?: () => void;
  /** Ends the stream at any time, also while it waits for new lines. */
  readonly signal?: AbortSignal;
}

export const MAX_LINES = 10_000;
export const MAX_LINE = 16_384;

/** A container or pod of a deployment, as observed on the engine. */
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
  /** Number of restarts by the engine, as it counts them. */
  readonly restarts: number;
  /** Whether it has the configuration and the image of the present generation. Absent while it is removed. */
  readonly current?: boolean;
  /** Whether it serves: it runs, and its health check passes if it has one. Absent while it is removed. */
  readonly ready?: boolean;
  /** Its number, from 0. Absent on clusters. */
  readonly ordinal?: number;
  /** The digest of its image; null or absent if it is not known. */
  readonly image_digest?: string | null;
  /** The node of a pod; null while it has none. Absent on hosts. */
  readonly node?: string | null;
  /** The containers of a pod, that of the program first. Absent on hosts. */
  readonly containers?: readonly InstanceContainer[];
  /** The last events of a pod that does not run, newest first. Absent on hosts. */
  readonly events?: readonly InstanceEvent[];
}

/** A container of a pod. */
export interface InstanceContainer {
  readonly name: string;
  readonly image: string;
  readonly phase: 'waiting' | 'running' | 'terminated';
  readonly message: string;
  readonly restarts: number;
}

/** An event of a cluster about an instance. */
export interface InstanceEvent {
  /** ISO 8601; null if the cluster does not state it. */
  readonly at: string | null;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

/** A finding about a deployment that its phase does not show. */
export interface ObservedCondition {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

/**
 * The process of an instance of a service, as its engine reports it. Times are those of the clock of
 * the engine, in milliseconds.
 */
export interface Process {
  /** The name of the instance. */
  readonly instance: string;
  /** The id of the container, or the name of the pod. */
  readonly id: string;
  /**
   * A digest of what the container was created from, empty for a pod. Another container with the same
   * body is the same instance, which the fleet has created again.
   */
  readonly body: string;
  /** When it was last started. */
  readonly startedAt: number;
  /**
   * Number of starts by the engine since the container was created, or last started on request: an
   * engine then counts from 0 again. An engine starts only processes that have failed.
   */
  readonly restarts: number;
  /** The time until it counts as stable; 0 if it does, absent if it has ended. */
  readonly stableInMs?: number;
  /** Its last failure, unless it has been stable since. */
  readonly failure?: ProcessFailure;
  /** Who starts it again, if it has ended. `inMs`: when the engine does, if that is known. */
  readonly restart?: { readonly by: 'fleet' } | { readonly by: 'engine'; readonly inMs: number | undefined };
}

interface ProcessFailure {
  readonly exitCode: number;
  readonly reason: CrashReason;
  /** When the process that failed was started. */
  readonly startedAt: number;
}

/** The address at which a port of an instance that is ready can be reached. */
export interface Endpoint {
  readonly container_port: number;
  readonly protocol: string;
  readonly address: string;
  /** From where it can be reached: `loopback`, `cluster`, `all`, a network type, or `unknown`. */
  readonly scope: string;
  /** The name of the instance at the address; null on clusters, where all instances have the same address. */
  readonly instance: string | null;
  /** Whether something is ready at the address. */
  readonly ready: boolean;
  /** Whether the instance is current; on clusters, whether all instances that are ready are current. */
  readonly current: boolean;
}

/**
 * The observed state after a reconciliation, and the actions that it took. Contains no values of
 * environment variables.
 */
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
  /** The processes of the instances of a service that have been started. */
  readonly processes?: readonly Process[];
  /** Those that were found before the actions were taken, because a start by the fleet resets the counts of an engine. */
  readonly processesBefore?: readonly Process[];
  readonly endpoints: readonly Endpoint[];
  /** Names of the desired volumes that exist. */
  readonly volumes: readonly string[];
  /** The digest of the image, if it is known and all instances run the same one. */
  readonly imageDigest?: string | undefined;
  /** On a cluster, the number of replicas that is requested there. */
  readonly scale?: ObservedScale | undefined;
  /** What the engine of a host states about networks of the fleet; absent if it was not asked. */
  readonly networks?: readonly { readonly id: string; readonly isolated: boolean }[];
  /** A failure of a network that the fleet repairs. */
  readonly networkFailure?: Pick<NetworkFailure, 'problem' | 'network' | 'subnet'> | undefined;
  /** The names of instances that are to end next, and are no longer among the endpoints. */
  readonly leaving?: readonly string[];
  /** What is to be known beside the phase; absent on hosts. */
  readonly conditions?: readonly ObservedCondition[];
  /** The actions taken, as short texts for events: `created web-0`. */
  readonly actions: readonly string[];
  /**
   * When to reconcile again. `soon`: the state is changing. `retry`: after an increasing delay.
   * `settled`: at the next regular reconciliation, because nothing changes without intervention.
   */
  readonly next: 'soon' | 'retry' | 'settled';
  /** With `soon`: the milliseconds until the state changes, if they are known. */
  readonly changesInMs?: number;
  /**
   * The latest generation of the objects on the engine, if it is later than the given one. Nothing
   * was changed then.
   */
  readonly supersededBy?: number;
}

/** What an instance uses. A value is null if the engine does not report it. */
export interface InstanceUsage {
  readonly name: string;
  readonly cpus: number | null;
  readonly memory_bytes: number | null;
  readonly memory_limit_bytes: number | null;
}

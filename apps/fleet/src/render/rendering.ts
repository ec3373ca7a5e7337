import type { Autoscaling, pulls, Updates, WorkloadSpec } from '@svc/contract/fleet';
import type { DefaultLimits } from './defaults.ts';
import type { PodSettings } from './pod-settings.ts';
import type { Piece } from './references.ts';

/** The members that are not empty: without undefined, null, '', empty arrays and empty objects. */
export const omitEmpty = <T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  // Object.fromEntries loses the names of the members.
  Object.fromEntries(Object.entries(members).filter(([, value]) => !isEmpty(value))) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0);

/** A volume of the fleet that a mount of the workload is bound to. */
export interface BoundVolume {
  /** The `name` of the volume mount. */
  readonly mount: string;
  readonly id: string;
  readonly name: string;
  /** A Kubernetes quantity. */
  readonly size: string;
  readonly access_mode: 'ReadWriteOnce' | 'ReadWriteMany' | 'ReadOnlyMany';
  /** null or '' selects the default of the cluster. */
  readonly storage_class: string | null;
  readonly labels?: Readonly<Record<string, string>>;
}

/** A value of a secret that a variable receives, as the whole value or instead of a placeholder of a composed one. */
export interface BoundValue extends Readonly<WorkloadSpec['secret_refs'][number]> {
  readonly placeholder?: string | undefined;
}

/** A variable whose value is composed of texts and the bound values of its placeholders. */
export interface ComposedVariable {
  readonly env: string;
  readonly pieces: readonly Piece[];
}

/** When a requested change pulls the image, as the deployment states it. */
export type Pull = (typeof pulls)[number];

/** Whether a manifest contains the values of secrets (for engines) or placeholders (for users). */
export type Secrecy = 'values' | 'placeholders';

/**
 * The secrets of a rendering. The manifest has the same type parameter `S`, so the compiler ensures
 * that a function for users only receives placeholders, and that a function that applies a manifest
 * receives values.
 */
export interface Secrets<S extends Secrecy = Secrecy> {
  readonly secrecy: S;
  /** Version and keys of a secret; undefined if no secret has that name. */
  readonly metadataOf: (name: string) => { readonly version: number; readonly keys: readonly string[] } | undefined;
  readonly value: (name: string, key: string) => string;
  /** The text of a secret variable that is stored as text, or its placeholder. */
  readonly text: (value: string) => string;
}

/** The application of which a deployment is a part. */
export interface Membership {
  /** That of the application. */
  readonly id: string;
  readonly part: string;
}

/** Who reaches the pods of a part of an application in a cluster, beside the other parts. */
export interface Admission {
  /** The ports that everybody reaches, such as `8080/tcp`. */
  readonly published: readonly string[];
  /** The deployments outside of the application that have the address of a port in a variable, by their ids. */
  readonly bound: readonly { readonly deployment: string; readonly port: number }[];
}

/**
 * The input of the renderers for all engines: everything about a deployment that determines its
 * manifest.
 */
export interface Rendering<S extends Secrecy = Secrecy> {
  /** UUID of the deployment. */
  readonly id: string;
  readonly name: string;
  readonly generation: number;
  /**
   * The revision of the workload, and the names of the variables that the deployment sets itself.
   */
  readonly source: {
    readonly workload_id: string;
    readonly revision: number;
    readonly variables: readonly string[];
  };
  /** The desired number of replicas: 0 for a stopped deployment. */
  readonly replicas: number;
  /** The bounds of its autoscaler, which only a cluster has; null: none. */
  readonly autoscaling: Autoscaling | null;
  /** The time (RFC 3339) of the last requested restart. A change of it restarts all instances. */
  readonly restarted_at: string | null;
  /**
   * The version of the defaults: `CURRENT_DEFAULTS`, or an earlier one for instances that were
   * started with it.
   */
  readonly defaults: number;
  /**
   * The limits for requests that the workload does not make. Version 1 of the defaults has none.
   */
  readonly defaultLimits: DefaultLimits;
  /** Default: none. Only clusters use it. */
  readonly application?: Membership | null;
  /** Default: nobody. Only clusters use it, for a part of an application. */
  readonly admission?: Admission | undefined;
  /** The labels of the deployment. Only clusters use them. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Those of its cluster, as they were when its pods were replaced last; null: none. */
  readonly podSettings?: PodSettings | null;
  /** How updates replace the pods of a cluster. Default: that of a new deployment. */
  readonly updates?: Updates;
  readonly spec: WorkloadSpec;
  readonly pull: Pull;
  /** The result of `resolveEnv`, without the variables whose value comes from a secret. */
  readonly env: readonly { readonly name: string; readonly value: string }[];
  /** The variables that the deployment binds to secrets, in addition to those of the spec. */
  readonly bound: readonly BoundValue[];
  /** Default: none. */
  readonly composed?: readonly ComposedVariable[] | undefined;
  /** One for each distinct name of a volume mount. */
  readonly volumes: readonly BoundVolume[];
  /** The secrets that the spec and the deployment name, including `registry_credentials`. */
  readonly secrets: Secrets<S>;
}

/** Whether the workload is a job, which runs to completion. */
export const isJob = ({ spec }: Rendering): boolean => spec.kind === 'job';

/**
 * The bound volume of each mount.
 * @throws Error if a mount is not bound; validation refuses such deployments earlier
 */
export const mountsOf = ({
  spec,
  volumes,
}: Rendering): { readonly volume: BoundVolume; readonly mountPath: string; readonly isReadOnly: boolean }[] =>
  spec.volume_mounts.map(({ name, mountPath, read_only = false }) => {
    const volume = volumes.find(({ mount }) => mount === name);
    if (!volume) throw new Error(`the volume mount "${name}" is not bound to a volume`);
    return { volume, mountPath, isReadOnly: read_only || volume.access_mode === 'ReadOnlyMany' };
  });

/** The bound volumes without duplicates; a volume can have several mounts. */
export const volumesOf = (rendering: Rendering): BoundVolume[] => [
  ...new Map(mountsOf(rendering).map(({ volume }) => [volume.id, volume])).values(),
];

export type Protocol = 'TCP' | 'UDP' | 'SCTP';

/** The ports of a workload without duplicates, with the protocol in upper case. */
export const portsOf = ({
  ports,
}: Pick<WorkloadSpec, 'ports'>): { readonly containerPort: number; readonly protocol: Protocol }[] => [
  ...new Map(
    ports.map(({ containerPort, protocol }) => {
      // toUpperCase returns any string.
      const upper = protocol.toUpperCase() as Protocol;
      return [`${containerPort}/${upper}`, { containerPort, protocol: upper }] as const;
    }),
  ).values(),
];

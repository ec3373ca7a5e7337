import type { WorkloadSpec } from '@svc/contract/fleet';

/** Of some members those that say something: not what is undefined, and no empty text, list or map. */
export const said = <T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => !saysNothing(value))) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };

const saysNothing = (value: unknown): boolean =>
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
  /** null or '' is what the cluster has as its default. */
  readonly storage_class: string | null;
}

/** Whether what is rendered holds the values of secrets (for engines) or stands in for them (for people). */
export type Secrecy = 'values' | 'placeholders';

/**
 * The secrets that a rendering may look into. What is rendered carries the same `S`: a function that shows things to
 * people takes `placeholders` and can't be given values, one that applies them takes `values` and can't be given less.
 */
export interface Secrets<S extends Secrecy = Secrecy> {
  readonly secrecy: S;
  /** Version and keys of a secret; undefined where there is none of that name. */
  readonly describe: (name: string) => { readonly version: number; readonly keys: readonly string[] } | undefined;
  readonly value: (name: string, key: string) => string;
}

/** All that an engine must know of a deployment, whatever the engine: what the renderers are given. */
export interface Rendering<S extends Secrecy = Secrecy> {
  /** UUID of the deployment. */
  readonly id: string;
  readonly name: string;
  readonly generation: number;
  /** How many are to run now: 0 for a deployment that is stopped. */
  readonly replicas: number;
  /** When a person last asked for a restart: another moment starts everything anew. */
  readonly restarted_at: string | null;
  readonly spec: WorkloadSpec;
  /** As `resolveEnv` gives it: without the variables that secrets fill. */
  readonly env: readonly { readonly name: string; readonly value: string }[];
  /** One for each name among the volume mounts. */
  readonly volumes: readonly BoundVolume[];
  /** Those that the spec names, `registry_credentials` included. */
  readonly secrets: Secrets<S>;
}

/** Whether it ends by itself. */
export const isJob = ({ spec }: Rendering): boolean => spec.kind === 'job';

/** The bound volume of each mount. @throws Error where one is not bound: deployments are refused before */
export const mountsOf = ({
  spec,
  volumes,
}: Rendering): { readonly volume: BoundVolume; readonly mountPath: string }[] =>
  spec.volume_mounts.map(({ name, mountPath }) => {
    const volume = volumes.find(({ mount }) => mount === name);
    if (!volume) throw new Error(`the volume mount "${name}" is bound to no volume`);
    return { volume, mountPath };
  });

/** Each bound volume once, however often it is mounted. */
export const volumesOf = (rendering: Rendering): BoundVolume[] => [
  ...new Map(mountsOf(rendering).map(({ volume }) => [volume.id, volume])).values(),
];

export type Protocol = 'TCP' | 'UDP' | 'SCTP';

/** The ports of a workload, each once, with the protocol in upper case. */
export const portsOf = ({ ports }: WorkloadSpec): { readonly containerPort: number; readonly protocol: Protocol }[] => [
  ...new Map(
    ports.map(({ containerPort, protocol }) => {
      const upper = protocol.toUpperCase() as Protocol;
      return [`${containerPort}/${upper}`, { containerPort, protocol: upper }] as const;
    }),
  ).values(),
];

import { formatBytes } from '../placement/quantities.ts';

/**
 * The current version of the defaults: what a rendering contains where a workload requests nothing.
 * A deployment keeps the version with which its instances were started until a change replaces
 * them, so that an upgrade of the fleet replaces no container.
 *
 * - 1: release 0.1.0
 * - 2: limits of processes and memory, fewer capabilities, the variables that configure the
 *   container, and ports that bind to addresses of the host
 * - 3: no variables by which engines give devices, and an init process in containers on hosts
 * - 4: pods have the settings of their cluster, and are spread over its nodes
 * - 5: containers on hosts are in isolated networks
 * - 6: pods are isolated, and those of applications have names
 */
export const CURRENT_DEFAULTS = 6;

/** The first version with default limits and without the capabilities `MKNOD` and `NET_RAW`. */
export const CONTAINERS_ARE_LIMITED = 2;

/**
 * The first version in which the ports of a host bind to addresses for the networks of a workload,
 * not to all interfaces.
 */
export const PORTS_BIND_TO_ADDRESSES = 2;

/**
 * The first version in which the environment of a container gives it no devices: neither that of
 * the workload nor, without a request for GPUs, that of the image.
 */
export const DEVICES_ARE_REQUESTED = 3;

/** The first version in which containers on hosts have an init process. */
export const CONTAINERS_HAVE_INIT = 3;

/** The first version in which pods have the settings that an admin makes for their cluster. */
export const PODS_HAVE_SETTINGS = 4;

/** The first version in which the pods of a deployment prefer different nodes. */
export const PODS_ARE_SPREAD = 4;

/** The first version in which containers on hosts are in isolated networks, not in the default network of their engine. */
export const CONTAINERS_ARE_ISOLATED = 5;

/** The first version in which network policies isolate pods, and those of applications have the names of their parts. */
export const PODS_ARE_ISOLATED = 6;

/**
 * The limits of a container whose workload requests nothing; null: none. They are settings of the
 * fleet.
 */
export interface DefaultLimits {
  readonly memory_bytes: number | null;
  /** Processes and threads. Clusters have no such limit for a single container. */
  readonly processes: number | null;
}

/** The properties of a deployment that decide which defaults apply to it. */
export interface DefaultsInUse {
  readonly defaults_version: number;
  /**
   * The limits at the start of its instances. A changed setting applies with the next change that
   * replaces them.
   */
  readonly default_memory_bytes: bigint | null;
  readonly default_processes: number | null;
  readonly host_id: string | null;
  readonly memory_request: string;
  readonly memory_limit: string;
  /** Whether it has ports that bind to all interfaces of its host. */
  readonly binds_all_interfaces: boolean;
}

interface DefaultsChange {
  /** The version that introduced the change. */
  readonly version: number;
  readonly appliesTo: (deployment: DefaultsInUse) => boolean;
  /** What a restart does, as the end of the sentence "A restart ...". */
  readonly effect: string;
}

const CHANGES: readonly DefaultsChange[] = [
  {
    version: CONTAINERS_ARE_LIMITED,
    appliesTo: () => true,
    effect: 'removes the capabilities MKNOD and NET_RAW from each container',
  },
  {
    version: PORTS_BIND_TO_ADDRESSES,
    appliesTo: ({ binds_all_interfaces }) => binds_all_interfaces,
    effect: 'binds its ports to the addresses of the host for its network types instead of all interfaces',
  },
  {
    version: DEVICES_ARE_REQUESTED,
    appliesTo: () => true,
    effect: 'removes access to GPUs that the workload does not request',
  },
  {
    version: CONTAINERS_HAVE_INIT,
    appliesTo: ({ host_id }) => host_id !== null,
    effect: 'starts an init process in each container, so that programs stop without delay',
  },
  {
    version: PODS_ARE_SPREAD,
    appliesTo: ({ host_id }) => host_id === null,
    effect: 'spreads its pods over the nodes of the cluster',
  },
  {
    version: CONTAINERS_ARE_ISOLATED,
    appliesTo: ({ host_id }) => host_id !== null,
    effect: 'moves its containers from the default network of the engine to an isolated network',
  },
  {
    version: PODS_ARE_ISOLATED,
    appliesTo: ({ host_id }) => host_id === null,
    effect: 'isolates its pods in the network of the cluster',
  },
];

/** The columns of a deployment for the limits with which its instances are rendered. */
export const columnsOfLimits = ({ memory_bytes, processes }: DefaultLimits) => ({
  default_memory_bytes: memory_bytes === null ? null : BigInt(memory_bytes),
  default_processes: processes,
});

/** The limits that the columns of a deployment contain. */
export const limitsOfColumns = (row: ReturnType<typeof columnsOfLimits>): DefaultLimits => ({
  memory_bytes: row.default_memory_bytes === null ? null : Number(row.default_memory_bytes),
  processes: row.default_processes,
});

/**
 * Whether the workload limits its memory itself. The quantity can be one that this version cannot
 * read.
 */
const limitsMemory = ({ memory_request, memory_limit }: DefaultsInUse): boolean =>
  [memory_request, memory_limit].some((quantity) => /^[0.]*[1-9]/.test(quantity));

/** What a restart of a deployment would change because it has older defaults; empty if nothing. */
export function effectsOfCurrentDefaults(deployment: DefaultsInUse, current: DefaultLimits): string[] {
  const inUse = limitsOfColumns(deployment);
  const hasOtherMemory = !limitsMemory(deployment) && inUse.memory_bytes !== current.memory_bytes;
  const hasOtherProcesses = deployment.host_id !== null && inUse.processes !== current.processes;
  return [
    ...(hasOtherProcesses ? [limitEffect('number of processes', current.processes?.toString())] : []),
    ...(hasOtherMemory ? [limitEffect('memory', formatted(current.memory_bytes))] : []),
    ...CHANGES.filter(({ version, appliesTo }) => version > deployment.defaults_version && appliesTo(deployment)).map(
      ({ effect }) => effect,
    ),
  ];
}

const formatted = (bytes: number | null) => (bytes === null ? undefined : formatBytes(BigInt(bytes)));

const limitEffect = (what: string, limit: string | undefined): string =>
  limit === undefined
    ? `removes the limit of the ${what} of each container`
    : `limits the ${what} of each container to ${limit}`;
